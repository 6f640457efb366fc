#include "workloads/server/http_request.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/files.h"

namespace profline::server {
namespace {

/// Listens on a free port, and answers one request with these bytes; empty: never.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes, bool closes = true)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), raw, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    EXPECT_EQ(::getsockname(socket_.get(), raw, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, bytes = std::move(bytes), closes](const std::stop_token& stop) {
      const FileDescriptor client(::accept(socket_.get(), nullptr, nullptr));
      if (!client.is_open()) return;
      char buffer[4096];
      while (request_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(client.get(), buffer, sizeof buffer, 0);
        if (got <= 0) return;
        request_.append(buffer, static_cast<std::size_t>(got));
      }
      static_cast<void>(::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) + 0);
      while (!closes && !stop.stop_requested()) ::poll(nullptr, 0, 5);
    });
  }
  ~OneAnswer() {
    thread_.request_stop();
    ::shutdown(socket_.get(), SHUT_RDWR);
  }
  Address address() const { return {"127.0.0.1", port_, ""}; }
  std::string request() {
    thread_.join();
    return request_;
  }

 private:
  FileDescriptor socket_;
  std::uint16_t port_ = 0;
  std::string request_;
  std::jthread thread_;
};

constexpr std::chrono::milliseconds kPlenty{20'000};

TEST(HttpRequest, ReadsAnAnswerWithItsLength) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false);
  const auto answer = call(server.address(), {.path = "/health", .timeout = kPlenty});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "ok");
}

TEST(HttpRequest, ReadsChunksAndConnectionsThatClose) {
  OneAnswer chunked(
      "HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nin "
      "u\r\n2\r\nse\r\n0\r\n\r\n",
      false);
  const auto first = call(chunked.address(), {.timeout = kPlenty});
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->status, 409);
  EXPECT_EQ(first->body, "in use");
  OneAnswer closing("HTTP/1.0 503 Loading\r\n\r\nloading");
  const auto second = call(closing.address(), {.timeout = kPlenty});
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(second->status, 503);
  EXPECT_EQ(second->body, "loading");
}

TEST(HttpRequest, ReadsAsMuchAsWasAskedFor) {
  constexpr std::size_t kUsual = 64U << 10U;
  const std::string body(3 * kUsual, 'x');
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  OneAnswer usual(bytes);
  const auto cut = call(usual.address(), {.timeout = kPlenty});
  ASSERT_TRUE(cut) << cut.error().to_string();
  EXPECT_EQ(cut->body.size(), kUsual);
  OneAnswer large(bytes);
  const auto whole = call(large.address(), {.timeout = kPlenty, .most_body = body.size()});
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->body, body);
}

TEST(HttpRequest, SendsABody) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Address address = server.address();
  address.path = "/base";
  ASSERT_TRUE(call(address, {"POST", "/start_profile", R"({"a": 1})", kPlenty}));
  const std::string sent = server.request();
  EXPECT_TRUE(sent.starts_with("POST /base/start_profile HTTP/1.1\r\n")) << sent;
  EXPECT_NE(sent.find("Content-Length: 8\r\n"), std::string::npos) << sent;
}

TEST(HttpRequest, SaysWhatWentWrong) {
  struct Case {
    std::string bytes, why;
  };
  for (const Case& each : {Case{"", "the connection was closed without an answer"},
                           Case{"SSH-2.0-OpenSSH\r\n\r\n", "the answer is not HTTP"}}) {
    OneAnswer server(each.bytes);
    const auto answer = call(server.address(), {.timeout = kPlenty});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message(), each.why);
  }
  OneAnswer silent("", false);
  const auto late = call(silent.address(), {.timeout = std::chrono::milliseconds(30)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message(), "no answer within 30 ms");
  const Address nobody = OneAnswer("").address();
  const auto refused = call(nobody, {.timeout = kPlenty});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "connection refused");
}

TEST(HttpRequest, FindsWhoListens) {
  OneAnswer server("", false);
  EXPECT_EQ(listener_on(server.address().port), ::getpid());
  EXPECT_TRUE(connects(server.address(), kPlenty));
  const Address nobody = OneAnswer("").address();
  EXPECT_EQ(listener_on(nobody.port), 0);
}

TEST(HttpRequest, ReadsAddresses) {
  const auto address = parse_address("http://host:8000/base/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "host");
  EXPECT_EQ(address->port, 8000);
  EXPECT_EQ(address->path, "/base");
  EXPECT_EQ(parse_address("http://[::1]:81")->host, "::1");
  EXPECT_EQ(parse_address("http://host")->port, 80);
  for (const char* bad :
       {"https://host", "host:80", "http://", "http://host:0", "http://h:99999"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace profline::server
