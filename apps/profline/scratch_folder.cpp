#include "scratch_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace profline {

ScratchFolder::ScratchFolder() {
  std::error_code failure;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failure);
  if (failure) return;
  std::string name = (parent / "profline-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace profline
