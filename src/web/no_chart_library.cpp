#include "web/internal/assets.h"

// Built when ECharts is not available.
std::span<const profline::EmbeddedFile> profline::web::chart_library() {
  return {};
}
