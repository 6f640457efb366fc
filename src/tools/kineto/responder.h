#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "tools/kineto/protocol.h"

namespace profline::kineto {

/// A process that sent us something.
struct Client {
  std::int32_t pid = 0;  ///< as it sees itself; its trace has this number
  pid_t kernel_pid = 0;  ///< as we see it; differs in a container. 0: not known
  bool registered = false;
  std::uint64_t polls = 0;
  std::optional<Clock::Steady> asked{};  ///< when it was asked for its trace
};

/// Everything that arrived so far.
struct Traffic {
  std::vector<Client> clients;  ///< in the order of their first message
  std::uint64_t garbage = 0;    ///< datagrams that no libkineto would send
  /// Sockets of processes that see our folder under another path. They get no answer: libkineto
  /// ends its process when an answer comes from another path than it expects.
  std::vector<std::string> elsewhere;

  const Client* find(std::int32_t pid) const;
};

/// Decides whether the trace of a process that polls begins now. Called on the responder's thread,
/// and must be quick: libkineto waits only 90 ms for an answer.
using MayTrace = std::function<bool(const Client& client)>;

/// A folder for the daemon's socket.
class SocketFolder {
 public:
  /// A private one, mode 0700: new, or left over by an earlier run of this user. Removed with its
  /// sockets in the destructor.
  static Result<SocketFolder> create(const std::filesystem::path& path);
  /// That of processes that profline did not start. The destructor removes the daemon's
  /// socket and nothing else. An Error if another daemon answers there.
  static Result<SocketFolder> share(const std::filesystem::path& path);
  ~SocketFolder();
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The daemon's socket in it is ours from now on.
  void take_socket() { has_socket_ = true; }

 private:
  SocketFolder(std::filesystem::path path, bool is_shared)
      : path_(std::move(path)), is_shared_(is_shared) {}

  std::filesystem::path path_;
  bool is_shared_;
  bool has_socket_ = false;
};

/// Answers the processes whose KINETO_IPC_SOCKET_DIR is its folder, on a thread of its own, until
/// it is destroyed. Each process is asked once for a trace.
class Responder {
 public:
  static Result<std::unique_ptr<Responder>> open(const std::filesystem::path& folder,
                                                 TraceRequest trace, MayTrace may_trace);
  static Result<std::unique_ptr<Responder>> open(SocketFolder folder, TraceRequest trace,
                                                 MayTrace may_trace);
  ~Responder();
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  Traffic traffic() const;
  const TraceRequest& trace() const { return trace_; }

 private:
  Responder(SocketFolder folder, FileDescriptor socket, FileDescriptor wakes, TraceRequest trace,
            MayTrace may_trace);

  void serve(const std::stop_token& stop);
  void take_one();
  void handle(const Message& message, pid_t kernel_pid, const std::string& sender);

  SocketFolder folder_;
  FileDescriptor socket_;
  FileDescriptor wakes_;  // an eventfd: interrupts the wait for a datagram
  TraceRequest trace_;
  MayTrace may_trace_;
  mutable std::mutex mutex_;
  Traffic traffic_;
  std::jthread thread_;  // last: it uses all of the above
};

/// Checks, with a child process started in `cwd`, that a responder in `folder` can be reached and
/// that its answer comes from the path that libkineto expects. The folder is removed again.
Result<void> check_reach(const std::filesystem::path& folder, const std::filesystem::path& cwd);

}  // namespace profline::kineto
