#include "testing/temp_dir.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace profline::testing {

TempDir::TempDir() : TempDir(std::filesystem::temp_directory_path()) {}

TempDir::TempDir(const std::filesystem::path& parent) {
  std::string name = (parent / "profline-test-XXXXXX").string();
  PL_ASSERT(mkdtemp(name.data()) != nullptr, "a test needs a writable temporary folder");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace profline::testing
