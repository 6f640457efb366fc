#include "mcp/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline::mcp {
namespace {

/// `double` doubles a number.
class Doubling final : public Toolset {
 public:
  std::vector<ToolDescription> list() const override {
    return {{"double", "doubles a number", Node::map(), true}};
  }
  Result<Node> call(std::string_view, const Node& arguments, const Follower& follower) override {
    if (follower) follower("doubling");
    const Node* number = arguments.find("number");
    if (number == nullptr) return Error(ErrorKind::Config, "missing key 'number' (an integer)");
    NodeMap result;
    result.set("twice", Node::integer(2 * number->as_int()));
    return Node::map(std::move(result));
  }
};

class Messages : public ::testing::Test {
 protected:
  std::string answer(std::string_view line) { return server_.answer(line).value_or("nothing"); }

  Doubling tools_;
  Server server_{{"profline", "1.2", "ask"}, tools_};
};

TEST_F(Messages, InitializeAgreesOnAVersion) {
  const auto version_for = [&](const std::string& asked) {
    const auto message = parse_json(
        answer(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" +
               asked + R"("}})"),
        "answer");
    return message->find_path("result.protocolVersion")->as_string();
  };
  EXPECT_EQ(version_for("2024-11-05"), "2024-11-05");
  EXPECT_EQ(version_for("2025-06-18"), "2025-06-18");
  EXPECT_EQ(version_for("2031-01-01"), "2025-11-25");
  EXPECT_EQ(
      answer(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"),
      R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
      R"("serverInfo":{"name":"profline","version":"1.2"},"instructions":"ask"}})");
}

TEST_F(Messages, AToolReportsProgressToAClientThatSendsAToken) {
  std::vector<std::string> sent;
  const auto call_with = [&](const std::string& meta) {
    return server_.answer(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":)" +
                              meta + R"(,"name":"double","arguments":{"number":21}}})",
                          [&](const std::string& message) { sent.push_back(message); });
  };
  EXPECT_TRUE(call_with(R"({"progressToken":"t"})"));
  EXPECT_TRUE(call_with(R"({"progressToken":null})"));
  EXPECT_TRUE(call_with("{}"));
  EXPECT_TRUE(call_with("3"));
  EXPECT_EQ(
      sent,
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":"doubling"}})"});
}

TEST(Ping, IsAnsweredWithoutAServer) {
  EXPECT_EQ(answer_to_ping(R"({"jsonrpc":"2.0","id":"a","method":"ping"})"),
            R"({"jsonrpc":"2.0","id":"a","result":{}})");
  for (const char* other :
       {R"({"jsonrpc":"2.0","method":"ping"})", R"({"jsonrpc":"2.0","id":{},"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"ping"}})", R"(["ping"])",
        R"({"id":1,"method":"ping")", ""}) {
    EXPECT_EQ(answer_to_ping(other), std::nullopt) << other;
  }
}

TEST_F(Messages, ToolsAreListedAndCalled) {
  EXPECT_EQ(
      answer(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})"),
      R"({"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"double","description":"doubles a number",)"
      R"("inputSchema":{},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]}})");
  EXPECT_EQ(
      answer(
          R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"double","arguments":{"number":21}}})"),
      R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"twice\":42}"}],)"
      R"("structuredContent":{"twice":42},"isError":false}})");
}

TEST_F(Messages, AFailureOfAToolIsItsResult) {
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"double"}})"),
            R"j({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text",)j"
            R"j("text":"missing key 'number' (an integer)"}],"isError":true}})j");
}

TEST_F(Messages, MistakesAreAnswered) {
  struct Case {
    std::string_view name, line, answer;
  };
  constexpr Case kCases[] = {
      {"not JSON", "nope",
       R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"unexpected 'nope', expected a value"}})"},
      {"not a map", "3",
       R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is a map"}})"},
      {"no method", R"({"jsonrpc":"2.0","id":4})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"a request has a method"}})"},
      {"id", R"({"jsonrpc":"2.0","id":[],"method":"ping"})",
       R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"an id is a string or a number"}})"},
      {"method", R"({"jsonrpc":"2.0","id":4,"method":"resources/list"})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method 'resources/list'"}})"},
      {"parameters", R"({"jsonrpc":"2.0","id":4,"method":"ping","params":[1]})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"parameters are a map"}})"},
      {"no tool", R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"tools/call needs the name of a tool"}})"},
      {"unknown tool", R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool 'rm'"}})"},
      {"empty batch", "[]",
       R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch has at least one message"}})"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(answer(c.line), c.answer);
  }
}

TEST_F(Messages, NotificationsAndResponsesHaveNoAnswer) {
  for (const char* line :
       {"", "  \r", R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"no/such"})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"([{"jsonrpc":"2.0","method":"notifications/cancelled"}])"}) {
    EXPECT_EQ(answer(line), "nothing") << line;
  }
}

TEST_F(Messages, ABatchIsAnsweredInOrder) {
  EXPECT_EQ(
      answer(
          R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}])"),
      R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}])");
}

TEST(Input, IsSplitIntoLines) {
  Lines lines;
  lines.add("one\ntw");
  EXPECT_EQ(lines.next()->text, "one");
  EXPECT_FALSE(lines.next());
  lines.add("o\n\nthree");
  EXPECT_EQ(lines.next()->text, "two");
  EXPECT_EQ(lines.next()->text, "");
  EXPECT_FALSE(lines.next());
  EXPECT_EQ(lines.rest()->text, "three");
  EXPECT_FALSE(lines.rest());
}

TEST(Input, ALineThatIsTooLongIsDroppedAndTheNextOneIsRead) {
  Lines lines;
  const std::string piece(1U << 20U, 'x');
  for (int i = 0; i < 9; ++i) {
    lines.add(piece);
    EXPECT_FALSE(lines.next());
  }
  lines.add("end\nnext\n");
  const auto line = lines.next();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->is_too_long);
  EXPECT_EQ(line->text, "");
  EXPECT_EQ(lines.next()->text, "next");
  EXPECT_EQ(answer_to_long_line(), R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":)"
                                   R"("the message is longer than 4 MiB"}})");
}

}  // namespace
}  // namespace profline::mcp
