#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace profline::serve {

/// A file that is sent as it is.
struct FileBody {
  FileDescriptor file;
  std::uint64_t size = 0;
};

/// An answer, before it becomes HTTP.
struct Response {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body{};
  std::optional<FileBody> file{};  ///< sent instead of the body
  std::string policy{};            ///< Content-Security-Policy; empty: nothing may be loaded or run
  bool is_kept = false;            ///< browsers may keep it: its address changes with its content
  std::vector<std::pair<std::string, std::string>> headers{};
};

}  // namespace profline::serve
