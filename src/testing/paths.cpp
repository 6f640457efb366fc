#include "testing/paths.h"

namespace profline::testing {

std::filesystem::path source_dir() {
  return PROFLINE_SOURCE_DIR;
}
std::filesystem::path binary_dir() {
  return PROFLINE_BINARY_DIR;
}
std::filesystem::path shared_dir() {
  return source_dir().parent_path() / "shared";
}

}  // namespace profline::testing
