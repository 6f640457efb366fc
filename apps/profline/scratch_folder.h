#pragma once

#include <filesystem>

#include "base/unfinished_work.h"

namespace profline {

/// A folder for what a command needs only while it runs, gone at the end with all it holds,
/// at an interrupt too.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Empty when none could be made.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UnfinishedWork unfinished_;
};

}  // namespace profline
