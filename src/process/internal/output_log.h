#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace profline::internal {

/// The file a child writes its output to. We only ever read its end, so memory stays flat however
/// much comes; and so does the disk: what lies between the first kLogHeadBytes and the last
/// kLogTailBytes gives its space back, where the file system can do that, and reads as zeros.
class OutputLog {
 public:
  /// Opens `path` for appending; a temporary file without a name when it is empty.
  static Result<OutputLog> open(const std::filesystem::path& path);

  int fd() const { return file_.get(); }

  /// What was written since the last call; if that is more than Exit::kTailBytes, its end.
  std::string new_bytes();
  /// The last Exit::kTailBytes written since open().
  std::string tail() const;

 private:
  explicit OutputLog(FileDescriptor file);
  std::uint64_t size() const;
  void give_back_middle(std::uint64_t end);
  std::string read_between(std::uint64_t from, std::uint64_t to) const;

  FileDescriptor file_;
  std::uint64_t start_ = 0;  ///< what was in the file before is not this child's
  std::uint64_t seen_ = 0;
  std::uint64_t given_back_ = 0;  ///< up to here, from the end of the head on
};

/// A file made anew for writing, above stdio and closed on exec.
Result<FileDescriptor> create_output(const std::filesystem::path& path);

}  // namespace profline::internal
