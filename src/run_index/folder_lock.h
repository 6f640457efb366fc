#pragma once

#include <filesystem>

#include "base/file_descriptor.h"

namespace profline::run_index {

/// The lock that a run holds on its folder while it goes on. Where the file system has no locks
/// nothing can be said, and a run that says it is running counts as one.
class FolderLock {
 public:
  enum class Kind {
    Look,  ///< shared: is anybody there?
    Own,   ///< nobody else may begin anything there
  };
  /// Never waits.
  FolderLock(const std::filesystem::path& folder, Kind kind);

  bool is_held() const { return held_; }
  /// Somebody else has it.
  bool is_taken() const { return taken_; }

 private:
  FileDescriptor folder_;
  bool held_ = false;
  bool taken_ = false;
};

}  // namespace profline::run_index
