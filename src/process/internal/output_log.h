#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace profline::internal {

/// The file a child writes its output to. We only ever read its end, so memory use does not grow
/// with the output. Neither does disk use: the space between the first kLogHeadBytes and the last
/// kLogTailBytes is freed, where the file system supports that, and reads as zeros.
class OutputLog {
 public:
  /// Opens `path` for appending; an unnamed temporary file if it is empty.
  static Result<OutputLog> open(const std::filesystem::path& path);

  int fd() const { return file_.get(); }

  /// What was written since the last call; if that exceeds Exit::kTailBytes, its end.
  std::string new_bytes();
  /// The last Exit::kTailBytes written since open().
  std::string tail() const;

 private:
  explicit OutputLog(FileDescriptor file);
  std::uint64_t size() const;
  void give_back_middle(std::uint64_t end);
  std::string read_between(std::uint64_t from, std::uint64_t to) const;

  FileDescriptor file_;
  std::uint64_t start_ = 0;  ///< where the output of this child begins
  std::uint64_t seen_ = 0;
  std::uint64_t given_back_ = 0;  ///< freed up to here, from the end of the head on
};

/// A new or emptied file for writing, with a descriptor above stdio, closed on exec.
Result<FileDescriptor> create_output(const std::filesystem::path& path);

}  // namespace profline::internal
