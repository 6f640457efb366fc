#include "process/ask.h"

#include <gtest/gtest.h>

#include "process/interrupt.h"
#include "process/posix_runner.h"

namespace profline {
namespace {

class Ask : public ::testing::Test {
 protected:
  Result<std::string> ask(std::vector<std::string> argv) {
    return output_of(runner_, std::move(argv));
  }

 private:
  Interrupt interrupt_;
  PosixRunner runner_{interrupt_};
};

TEST_F(Ask, GivesStdoutAlone) {
  const auto answer = ask({"/bin/sh", "-c", "echo noise >&2; echo 2025.3.1"});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(*answer, "2025.3.1\n");
}

TEST_F(Ask, QuotesAProgramThatFails) {
  const auto answer = ask({"/bin/sh", "-c", "echo 'no such device' >&2; exit 7"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::Tool);
  EXPECT_EQ(answer.error().to_string(),
            "'/bin/sh -c 'echo '\\''no such device'\\'' >&2; exit 7'' exited with code 7: no such "
            "device");
}

TEST_F(Ask, AProgramThatIsNotThereIsNotFound) {
  const auto answer = ask({"/nowhere/nsys", "--version"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace profline
