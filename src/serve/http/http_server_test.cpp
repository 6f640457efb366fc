#include "serve/http/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;

/// A site without runs, served by a thread.
class Serving : public ::testing::Test {
 protected:
  Serving() {
    thread_ = std::jthread([this] { result_ = server_->serve(site_); });
  }
  ~Serving() override { end(); }

  void end() {
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }

  /// Status line of the answer to a request for the list of runs; empty: there is no answer.
  std::string ask() const {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const FileDescriptor closes(client);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof generic);
    if (::connect(client, &generic, sizeof generic) != 0) return "";
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    if (::send(client, request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
    std::string answer(64, '\0');
    const ssize_t count = ::recv(client, answer.data(), answer.size(), MSG_WAITALL);
    return count > 0 ? answer.substr(0, answer.find('\r')) : "";
  }

  static std::vector<int> listening_sockets() {
    std::vector<int> found;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      const int descriptor = std::stoi(entry.path().filename().string());
      int listens = 0;
      socklen_t size = sizeof listens;
      const int known = ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
      if (known == 0 && listens != 0) found.push_back(descriptor);
    }
    return found;
  }

  testing::TempDir folder_;
  Interrupt interrupt_;
  Site site_{*catalog::Catalog::open(std::vector<fs::path>{folder_.path()}),
             {.token = "t", .cookie_name = "c"},
             interrupt_};
  std::unique_ptr<HttpServer> server_ =
      std::make_unique<HttpServer>(*HttpServer::bind("127.0.0.1", 0));
  Result<void> result_;
  std::jthread thread_;
};

TEST_F(Serving, GoesOnAfterAConnectionCouldNotBeAccepted) {
  EXPECT_EQ(ask(), "HTTP/1.1 401 Unauthorized");
  // Now every accept() fails.
  for (const int each : listening_sockets()) ::shutdown(each, SHUT_RDWR);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::string answer;
  while (answer.empty() && std::chrono::steady_clock::now() < deadline) answer = ask();
  EXPECT_EQ(answer, "HTTP/1.1 401 Unauthorized");
  end();
  EXPECT_TRUE(result_) << result_.error().to_string();
}

}  // namespace
}  // namespace profline::serve
