#include "tools/kineto/responder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace profline::kineto {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDatagramBytes = std::size_t{64} << 10U;
constexpr std::size_t kMostClients =
    4096;  // a program that sends made-up pids must not fill memory

Error failed(const std::string& what, int code) {
  return {ErrorKind::Io, what + ": " + std::generic_category().message(code)};
}

/// A path that fits into an address, with its length.
struct SocketAddress {
  sockaddr_un un{};
  socklen_t size = 0;
};

SocketAddress address_of(const fs::path& socket) {
  SocketAddress address;
  address.un.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  path.copy(address.un.sun_path, sizeof address.un.sun_path - 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

/// The path of a sender; empty for a socket without one.
std::string path_of(const sockaddr_un& address, socklen_t size) {
  const std::size_t start = offsetof(sockaddr_un, sun_path);
  if (size <= start) return {};
  const std::size_t most = std::min<std::size_t>(size - start, sizeof address.sun_path);
  return {address.sun_path, strnlen(address.sun_path, most)};
}

Result<void> check_length(const fs::path& folder) {
  if (folder.native().size() <= kMostFolderBytes) return {};
  return Error(ErrorKind::Io, "the path " + folder.string() + " is longer than the " +
                                  std::to_string(kMostFolderBytes) +
                                  " bytes that leave room for libkineto's sockets");
}

/// Whether a program has that socket open.
bool answers(const fs::path& socket) {
  const FileDescriptor own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = address_of(socket);
  return own.is_open() &&
         connect(own.get(), reinterpret_cast<const sockaddr*>(&address.un), address.size) == 0;
}

void remove_sockets(const fs::path& folder) {
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    if (fs::is_socket(at->symlink_status(ignored))) fs::remove(at->path(), ignored);
  }
}

Result<void> check_left_folder(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return failed("cannot inspect " + path.string(), errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
    return Error(ErrorKind::Io, path.string() + " exists and is not a folder of this user");
  }
  if (chmod(path.c_str(), S_IRWXU) != 0) {
    return failed("cannot make " + path.string() + " private", errno);
  }
  remove_sockets(path);
  return {};
}

/// The sender's pid as the kernel reports it; 0 if it does not.
pid_t sender_pid(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
    return credentials.pid;
  }
  return 0;
}

/// What the child process found out; also its exit code.
enum Reach : int { kReached = 0, kNoFolder, kNoSocket, kNotSent, kNoAnswer, kOtherPath, kNoChild };

const char* text_of(int reach) {
  switch (reach) {
    case kNoFolder:
      return "cannot enter the program's working directory";
    case kNoSocket:
      return "cannot bind a socket there";
    case kNotSent:
      return "cannot send to profline's socket";
    case kNoAnswer:
      return "gets no answer";
    case kOtherPath:
      return "gets its answer from another path";
    default:
      return "did not run";
  }
}

/// Everything that the child needs. Prepared before the fork, because the child may only make
/// system calls.
struct Trial {
  const char* cwd = nullptr;
  sockaddr_un own{};
  sockaddr_un server{};
  std::string datagram;
};

/// What libkineto does at its first poll.
int reach_of(const Trial& trial) {
  constexpr timeval kPatience{2, 0};
  if (trial.cwd != nullptr && chdir(trial.cwd) != 0) return kNoFolder;
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const auto* own = reinterpret_cast<const sockaddr*>(&trial.own);
  if (socket < 0 || bind(socket, own, sizeof trial.own) != 0) return kNoSocket;
  (void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  const auto* server = reinterpret_cast<const sockaddr*>(&trial.server);
  if (sendto(socket, trial.datagram.data(), trial.datagram.size(), 0, server, sizeof trial.server) <
      0) {
    return kNotSent;
  }
  std::array<char, 256> answer{};
  sockaddr_un from{};
  socklen_t size = sizeof from;
  if (recvfrom(socket, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size) <
      0) {
    return kNoAnswer;
  }
  const bool same = std::strncmp(from.sun_path, trial.server.sun_path, sizeof from.sun_path) == 0;
  return same ? kReached : kOtherPath;
}

/// A poll by this process, which asks for nothing.
std::string harmless_poll() {
  constexpr std::array<std::int32_t, 2> kNothingForOne = {0, 1};
  const std::int64_t job = 0;
  const std::int32_t pid = getpid();
  std::string body(2 * sizeof(std::int32_t) + sizeof job + sizeof pid, '\0');
  std::memcpy(body.data(), kNothingForOne.data(), sizeof kNothingForOne);
  std::memcpy(body.data() + sizeof kNothingForOne, &job, sizeof job);
  std::memcpy(body.data() + sizeof kNothingForOne + sizeof job, &pid, sizeof pid);
  return answer(Message::Kind::Request, body);
}

}  // namespace

const Client* Traffic::find(std::int32_t pid) const {
  const auto found =
      std::find_if(clients.begin(), clients.end(), [&](const Client& c) { return c.pid == pid; });
  return found == clients.end() ? nullptr : &*found;
}

Result<SocketFolder> SocketFolder::create(const fs::path& path) {
  PL_TRY(check_length(path));
  if (mkdir(path.c_str(), S_IRWXU) != 0) {
    if (errno != EEXIST) return failed("cannot create " + path.string(), errno);
    PL_TRY(check_left_folder(path));
  }
  return SocketFolder(path, false);
}

Result<SocketFolder> SocketFolder::share(const fs::path& path) {
  PL_TRY(check_length(path));
  const fs::path daemon = path / kSocketName;
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(daemon, failure);
  if (!fs::exists(status)) return SocketFolder(path, true);
  if (!fs::is_socket(status) || answers(daemon)) {
    return Error(ErrorKind::Io, "another daemon uses " + daemon.string());
  }
  if (!fs::remove(daemon, failure)) {  // of a daemon that has ended
    return failed("cannot remove " + daemon.string(), failure.value());
  }
  return SocketFolder(path, true);
}

SocketFolder::SocketFolder(SocketFolder&& other) noexcept
    : path_(std::move(other.path_)), is_shared_(other.is_shared_), has_socket_(other.has_socket_) {
  other.path_.clear();
}

SocketFolder::~SocketFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  if (is_shared_) {
    if (has_socket_) fs::remove(path_ / kSocketName, ignored);
    return;
  }
  remove_sockets(path_);
  fs::remove(path_, ignored);
}

Result<std::unique_ptr<Responder>> Responder::open(const fs::path& folder, TraceRequest trace,
                                                   MayTrace may_trace) {
  return open(PL_TRY(SocketFolder::create(folder)), std::move(trace), std::move(may_trace));
}

Result<std::unique_ptr<Responder>> Responder::open(SocketFolder made, TraceRequest trace,
                                                   MayTrace may_trace) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failed("cannot create a socket", errno);
  const int on = 1;  // best effort: only processes in containers need the sender's pid
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  const SocketAddress address = address_of(made.path() / kSocketName);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.un), address.size) != 0) {
    return failed("cannot bind " + (made.path() / kSocketName).string(), errno);
  }
  made.take_socket();
  FileDescriptor wakes(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakes.is_open()) return failed("cannot create an eventfd", errno);
  std::unique_ptr<Responder> responder(new Responder(std::move(made), std::move(socket),
                                                     std::move(wakes), std::move(trace),
                                                     std::move(may_trace)));
  try {
    responder->thread_ =
        std::jthread([raw = responder.get()](const std::stop_token& stop) { raw->serve(stop); });
  } catch (const std::system_error& error) {  // at a limit on processes
    return Error(ErrorKind::Io, std::string("cannot start a thread: ") + error.what());
  }
  return responder;
}

Responder::Responder(SocketFolder folder, FileDescriptor socket, FileDescriptor wakes,
                     TraceRequest trace, MayTrace may_trace)
    : folder_(std::move(folder)),
      socket_(std::move(socket)),
      wakes_(std::move(wakes)),
      trace_(std::move(trace)),
      may_trace_(std::move(may_trace)) {}

Responder::~Responder() {
  thread_.request_stop();
  const std::uint64_t once = 1;
  (void)!write(wakes_.get(), &once, sizeof once);
}

Traffic Responder::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

void Responder::serve(const std::stop_token& stop) {
  std::array<pollfd, 2> waits{{{socket_.get(), POLLIN, 0}, {wakes_.get(), POLLIN, 0}}};
  while (!stop.stop_requested()) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if ((waits[0].revents & (POLLIN | POLLERR)) != 0) take_one();
  }
}

void Responder::take_one() {
  std::string bytes(kMostDatagramBytes, '\0');
  sockaddr_un from{};
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_name = &from;
  header.msg_namelen = sizeof from;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return;
  const pid_t pid = sender_pid(header);
  const std::string sender = path_of(from, header.msg_namelen);
  const bool is_cut = (header.msg_flags & MSG_TRUNC) != 0;
  const auto message =
      parse_message(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)));
  if (is_cut || !message || sender.empty()) {
    const std::lock_guard lock(mutex_);
    ++traffic_.garbage;
    return;
  }
  handle(*message, pid, sender);
}

void Responder::handle(const Message& message, pid_t kernel_pid, const std::string& sender) {
  const std::lock_guard lock(mutex_);
  if (!sender.starts_with(folder_.path().native() + "/")) {
    auto& list = traffic_.elsewhere;
    const bool is_new = std::find(list.begin(), list.end(), sender) == list.end();
    if (is_new && list.size() < kMostClients) list.push_back(sender);
    return;
  }
  auto client = std::find_if(traffic_.clients.begin(), traffic_.clients.end(),
                             [&](const Client& c) { return c.pid == message.pid(); });
  if (client == traffic_.clients.end()) {
    if (traffic_.clients.size() >= kMostClients) return;
    traffic_.clients.push_back({.pid = message.pid(), .kernel_pid = kernel_pid});
    client = traffic_.clients.end() - 1;
  }
  std::string body;
  bool asks = false;
  if (message.kind == Message::Kind::Context) {
    client->registered = true;
    body = registration_body();
  } else {
    ++client->polls;
    asks = message.takes_trace() && !client->asked && may_trace_(*client);
    if (asks) body = trace_config(trace_);
  }
  const std::string datagram = answer(message.kind, body);
  const SocketAddress to = address_of(sender);
  const ssize_t sent =
      sendto(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to.un), to.size);
  // If sending failed and the process still runs, it will poll again.
  if (asks && sent == static_cast<ssize_t>(datagram.size())) {
    client->asked = std::chrono::steady_clock::now();
  }
}

Result<void> check_reach(const fs::path& folder, const fs::path& cwd) {
  const auto responder = PL_TRY(Responder::open(folder, {}, [](const Client&) { return false; }));
  std::string name = "reach";
  name.resize(kClientNameBytes, '-');  // as long as libkineto's
  const std::string start = cwd.string();
  const Trial trial{.cwd = start.empty() ? nullptr : start.c_str(),
                    .own = address_of(folder / name).un,
                    .server = address_of(folder / kSocketName).un,
                    .datagram = harmless_poll()};
  const pid_t child = fork();
  if (child < 0) {
    return Error(ErrorKind::Io,
                 "cannot start a process: " + std::generic_category().message(errno));
  }
  if (child == 0) _exit(reach_of(trial));
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  const int reach = ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : kNoChild;
  if (reach == kReached) return {};
  return Error(ErrorKind::Io, std::string("a process that uses the sockets in ") + folder.string() +
                                  " " + text_of(reach));
}

}  // namespace profline::kineto
