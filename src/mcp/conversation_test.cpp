#include "mcp/conversation.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <future>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace profline::mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `wait` takes until somebody ends it.
class Waiting final : public Toolset {
 public:
  std::vector<ToolDescription> list() const override {
    return {{"wait", "waits", Node::map(), true}};
  }
  Result<Node> call(std::string_view, const Node&, const Follower& follower) override {
    if (follower) follower("waiting");
    over.get_future().wait();
    return Node::map();
  }
  std::promise<void> over;
};

class Conversation : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    in_ = FileDescriptor(ends[0]);
    client_ = FileDescriptor(ends[1]);
  }
  void say(std::string_view text) { ASSERT_EQ(write_all(client_.get(), text), 0); }

  static constexpr std::string_view kWait =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":9}}})"
      "\n";
  static constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";

  Waiting tools_;
  Server server_{{"profline", "1", ""}, tools_};
  FileDescriptor in_;
  FileDescriptor client_;
};

TEST_F(Conversation, APingIsAnsweredWhileAToolWorks) {
  say(kWait);
  std::vector<std::string> written;
  const auto ended = converse(server_, in_.get(), [&](const std::string& line) -> Result<void> {
    written.push_back(line);
    if (line.find("progress") != std::string::npos) {  // the tool is at work
      say(kPing);
      client_ = FileDescriptor();
    }
    if (line.find(R"("id":2)") != std::string::npos) tools_.over.set_value();
    return {};
  });
  EXPECT_TRUE(ended);
  EXPECT_THAT(written, ElementsAre(HasSubstr(R"("message":"waiting")"),
                                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n",
                                   HasSubstr(R"("isError":false)")));
}

TEST_F(Conversation, EndsWhenNobodyReadsTheAnswers) {
  tools_.over.set_value();
  say(kWait);  // and the client stays
  const auto ended = converse(server_, in_.get(), [](const std::string&) -> Result<void> {
    return Error(ErrorKind::Io, "nobody reads");
  });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().to_string(), "nobody reads");
}

TEST_F(Conversation, AnInputThatCannotBeReadIsAnError) {
  const FileDescriptor folder = open_descriptor("/", O_RDONLY);
  const auto ended =
      converse(server_, folder.get(), [](const std::string&) -> Result<void> { return {}; });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().to_string(), "cannot read stdin: it is a directory");
}

}  // namespace
}  // namespace profline::mcp
