#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/json.h"
#include "mcp/protocol.h"

namespace {

using profline::Error;
using profline::ErrorKind;
using profline::Node;
using profline::Result;

/// One tool that repeats its arguments, or fails.
class Echo final : public profline::mcp::Toolset {
 public:
  std::vector<profline::mcp::ToolDescription> list() const override {
    return {{"echo", "repeats its arguments", Node::map(), true}};
  }
  Result<Node> call(std::string_view, const Node& arguments,
                    const profline::mcp::Follower&) override {
    if (arguments.find("fail") != nullptr) return Error(ErrorKind::Config, "asked to fail");
    return arguments;
  }
};

bool is_answer(const Node& message) {
  const Node* version = message.find("jsonrpc");
  const bool has_one = (message.find("result") == nullptr) != (message.find("error") == nullptr);
  return version != nullptr && version->is_string() && version->as_string() == "2.0" &&
         message.find("id") != nullptr && has_one;
}

}  // namespace

// Whatever arrives: each line gets at most one answer, which is one line of JSON with the members
// of JSON-RPC, whether the lines arrive at once or byte by byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Echo tools;
  mcp::Server server({"fuzz", "1", ""}, tools);
  mcp::Lines at_once;
  at_once.add(input);
  mcp::Lines by_byte;
  for (const char byte : input) by_byte.add(std::string_view(&byte, 1));
  for (bool more = true; more;) {
    auto line = at_once.next();
    auto same = by_byte.next();
    more = line.has_value();
    if (!more) {
      line = at_once.rest();
      same = by_byte.rest();
    }
    PL_ASSERT(line.has_value() == same.has_value(), "both see the same lines");
    if (!line) continue;
    PL_ASSERT(line->text == same->text, "both see the same lines");
    const std::optional<std::string> answer = server.answer(line->text);
    if (!answer) continue;
    PL_ASSERT(answer->find('\n') == std::string::npos, "an answer is one line");
    const auto message = parse_json(*answer, "answer");
    PL_ASSERT(message.has_value(), "an answer is JSON");
    if (message->is_list()) {
      for (const Node& each : message->as_list()) PL_ASSERT(is_answer(each), "each is an answer");
    } else {
      PL_ASSERT(is_answer(*message), "it is an answer");
    }
  }
  return 0;
}
