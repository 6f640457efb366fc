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
  const UnfinishedWork::Lock made_and_noted = UnfinishedWork::lock();
  if (mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  unfinished_ = UnfinishedWork([name] {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  });
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace profline
