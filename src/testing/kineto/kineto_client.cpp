#include "testing/kineto/kineto_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "tools/kineto/protocol.h"

namespace profline::testing {
namespace {

/// libkineto's structures, as its compiler lays them out.
struct Metadata {
  std::size_t size = 0;
  std::array<char, 32> type{};
};
struct Context {
  std::int32_t gpu = 0;
  pid_t pid = 0;
  std::int64_t job = 0;
};
struct Request {
  int type = 0;
  int n = 0;
  std::int64_t job = 0;
  std::array<std::int32_t, 2> pids{};  // it and its parent
};

template <typename Body>
std::string datagram_of(std::string_view type, const Body& body) {
  Metadata metadata{.size = sizeof body};
  type.copy(metadata.type.data(), type.size());
  std::string bytes(sizeof metadata + sizeof body, '\0');
  std::memcpy(bytes.data(), &metadata, sizeof metadata);
  std::memcpy(bytes.data() + sizeof metadata, &body, sizeof body);
  return bytes;
}

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  PL_ASSERT(path.native().size() < sizeof address.sun_path, "test folders are short");
  path.native().copy(address.sun_path, path.native().size());
  return address;
}

}  // namespace

KinetoClient::KinetoClient(const std::filesystem::path& shown, std::int32_t pid)
    : shown_(shown), pid_(pid), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  std::string name = "dynoconfigclient" + std::to_string(pid);
  name.resize(kineto::kClientNameBytes, 'f');
  const sockaddr_un address = address_of(shown / name);
  PL_ASSERT(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
            "the folder exists");
  // Longer than libkineto's 90 ms, so that a busy machine fails no test.
  const timeval patience{10, 0};
  (void)setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

bool KinetoClient::send(std::string_view bytes) {
  const sockaddr_un server = address_of(shown_ / kineto::kSocketName);
  return sendto(socket_.get(), bytes.data(), bytes.size(), 0,
                reinterpret_cast<const sockaddr*>(&server), sizeof server) >= 0;
}

std::optional<std::int32_t> KinetoClient::enroll(std::int32_t gpu) {
  if (!send(datagram_of("ctxt", Context{.gpu = gpu, .pid = pid_}))) return std::nullopt;
  const auto body = receive();
  std::int32_t number = 0;
  if (!body || body->size() != sizeof number) return std::nullopt;
  std::memcpy(&number, body->data(), sizeof number);
  return number;
}

std::optional<std::string> KinetoClient::poll(std::int32_t wants) {
  const Request request{.type = wants, .n = 2, .pids = {pid_, getppid()}};
  if (!send(datagram_of("req", request))) return std::nullopt;
  return receive();
}

std::optional<std::string> KinetoClient::receive() {
  std::string bytes(1U << 16U, '\0');
  sockaddr_un from{};
  socklen_t size = sizeof from;
  const ssize_t count = recvfrom(socket_.get(), bytes.data(), bytes.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from), &size);
  Metadata metadata;
  if (count < static_cast<ssize_t>(sizeof metadata)) return std::nullopt;
  std::memcpy(&metadata, bytes.data(), sizeof metadata);
  if (!std::string_view(from.sun_path).starts_with(shown_.native() + "/")) would_terminate_ = true;
  return bytes.substr(sizeof metadata, metadata.size);
}

}  // namespace profline::testing
