#include "load/client/http_loop.h"

#include <gtest/gtest.h>

namespace profline::load {
namespace {

class Ended : public AnswerReader {
 public:
  void header(std::string_view /*line*/) override {}
  bool body(std::string_view /*bytes*/, const ReadTime& /*when*/) override { return true; }
  void ended(const TransferEnd& end) override { end_ = end; }

  const std::optional<TransferEnd>& end() const { return end_; }

 private:
  std::optional<TransferEnd> end_;
};

TEST(HttpLoop, ReturnsAtOnceIfATransferEndsWhenItIsStarted) {
  auto loop = HttpLoop::open();
  ASSERT_TRUE(loop) << loop.error().to_string();
  // The next wake-up of a loop that waits although nothing is left to wait for.
  const std::int64_t until = monotonic_ns() + 20 * kSecondNs;
  Ended reader;
  HttpRequest request;
  request.url = "http://";  // libcurl refuses it as soon as the transfer starts
  request.timeout = std::chrono::seconds(100);
  (*loop)->start(request, reader);
  while (!reader.end()) (*loop)->step(until);
  ASSERT_TRUE(reader.end()->failure);
  EXPECT_LT(monotonic_ns(), until) << "the loop waited for a transfer that had ended";
}

}  // namespace
}  // namespace profline::load
