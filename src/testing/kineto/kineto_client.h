#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

namespace profline::testing {

/// libkineto's side of the protocol, for tests.
class KinetoClient {
 public:
  /// `shown` is the value of KINETO_IPC_SOCKET_DIR in its environment.
  KinetoClient(const std::filesystem::path& shown, std::int32_t pid);

  /// `ctxt`: the number in the answer.
  std::optional<std::int32_t> enroll(std::int32_t gpu = 0);
  /// `req`: the text in the answer; nothing if there was none.
  std::optional<std::string> poll(std::int32_t wants = 2);
  /// Any bytes; without waiting for an answer.
  bool send(std::string_view bytes);
  /// libkineto would have ended its process because of where an answer came from.
  bool would_terminate() const { return would_terminate_; }

 private:
  std::optional<std::string> receive();

  std::filesystem::path shown_;
  std::int32_t pid_;
  FileDescriptor socket_;
  bool would_terminate_ = false;
};

}  // namespace profline::testing
