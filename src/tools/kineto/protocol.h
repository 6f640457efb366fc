#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Kineto on demand: a process whose PyTorch was started with KINETO_USE_DAEMON asks a daemon every
/// few seconds whether it should record a trace, over a UNIX datagram socket called `dynolog`.
/// docs/kineto.md describes the protocol, the environment and the timing.
namespace profline::kineto {

/// The daemon's socket, in the folder that KINETO_IPC_SOCKET_DIR names.
inline constexpr const char* kSocketName = "dynolog";
/// A process binds its own socket in the same folder, under a name of this many bytes: libkineto
/// copies folder and name into an address without checking its length.
inline constexpr std::size_t kClientNameBytes = 52;
/// The longest folder whose sockets fit into an address with its final NUL.
inline constexpr std::size_t kMostFolderBytes = 54;

/// What a process sent.
struct Message {
  enum class Kind : std::uint8_t {
    Context,  ///< `ctxt`: it registers; answered with a number
    Request   ///< `req`: it asks for a configuration; answered with a text
  };
  Kind kind = Kind::Request;
  std::int32_t gpu = 0;  ///< of a Context
  std::int64_t job = 0;
  std::int32_t wants = 0;  ///< of a Request: kinds of configuration, as bits
  /// Its own pid and, for a Request, those of its ancestors, as the process sees them. Never
  /// empty.
  std::vector<std::int32_t> pids{};

  /// Whether it would start a trace: a process that is recording already does not ask for one.
  bool takes_trace() const;
  std::int32_t pid() const { return pids.front(); }
  bool operator==(const Message&) const = default;
};

/// Parses a datagram. An Error of kind Parse for anything that libkineto would not send.
Result<Message> parse_message(std::string_view datagram);

/// The datagram that answers a message of that kind.
std::string answer(Message::Kind kind, std::string_view body);
/// The body that confirms a registration.
std::string registration_body();

/// What a process is asked to record.
struct TraceRequest {
  /// Ends in `.json`; each process inserts its pid, as trace_file() does.
  std::filesystem::path file;
  std::chrono::milliseconds duration{500};
  bool cpu = true;
  bool cuda = true;
  bool shapes = false;
  bool memory = false;
  bool stacks = false;
};

/// The configuration that makes a process record it at once.
std::string trace_config(const TraceRequest& request);

/// Where the process writes what `request.file` asks for: `dir/kineto.json` ->
/// `dir/kineto_77.json`.
std::filesystem::path trace_file(const std::filesystem::path& file, std::int64_t pid);

/// Why libkineto could not write its trace into this folder, because of the folder's name; nothing
/// if it can.
std::optional<std::string> unusable_trace_folder(const std::filesystem::path& folder);

}  // namespace profline::kineto
