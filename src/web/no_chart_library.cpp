#include "web/assets.h"

// Built where ECharts could not be had.
std::span<const profline::EmbeddedFile> profline::web::chart_library() {
  return {};
}
