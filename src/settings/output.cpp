#include "settings/output.h"

namespace profline::settings {

std::filesystem::path Output::prediction_dir() const {
  return prediction.save_dir.value_or("pred");
}

std::filesystem::path Output::visualization_dir() const {
  return visualization.save_dir.value_or("viz");
}

}  // namespace profline::settings
