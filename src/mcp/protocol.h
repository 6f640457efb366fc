#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

/// The Model Context Protocol on stdin and stdout: assistants list tools and call them. One line is
/// one message of JSON-RPC 2.0. docs/agents.md describes the tools.
namespace profline::mcp {

/// A longer line is refused without being kept.
inline constexpr std::size_t kLongestMessage = std::size_t{4} << 20U;

/// A tool as a client lists it.
struct ToolDescription {
  std::string_view name;
  std::string_view description;
  Node input_schema;  ///< a JSON Schema
  bool is_read_only = true;
};

/// Hears what a tool is doing while it works: `baseline started`.
using Follower = std::function<void(std::string_view what)>;

/// What the server offers.
class Toolset {
 public:
  Toolset() = default;
  Toolset(const Toolset&) = delete;
  Toolset& operator=(const Toolset&) = delete;
  virtual ~Toolset() = default;

  virtual std::vector<ToolDescription> list() const = 0;
  /// The content of the answer, a map. `arguments` is a map. An Error is passed to the client as
  /// the result of the tool. `follower` may be empty.
  virtual Result<Node> call(std::string_view tool, const Node& arguments,
                            const Follower& follower) = 0;
};

/// What a client reads first.
struct ServerFacts {
  std::string_view name;
  std::string_view version;
  std::string_view instructions;
};

/// Passes on a message, without a line feed.
using Send = std::function<void(const std::string& message)>;

/// Answers messages one at a time, in order.
class Server {
 public:
  /// The tools must outlive it.
  Server(ServerFacts facts, Toolset& tools) : facts_(facts), tools_(tools) {}

  /// The answer, without a line feed; nothing for a notification, a response or an empty line.
  /// `send` gets the progress of a tool, if the client asks for that and it is not empty.
  std::optional<std::string> answer(std::string_view line, const Send& send = {});

 private:
  std::optional<Node> answer_message(const Node& message, const Send& send);
  Node dispatch(const Node& id, std::string_view method, const Node& parameters, const Send& send);
  Node initialize(const Node& parameters) const;
  Node list_tools() const;
  Node call_tool(const Node& id, const Node& parameters, const Send& send);

  ServerFacts facts_;
  Toolset& tools_;
};

/// The answer to a ping; nothing for any other line. Needs no server: a client asks whether anybody
/// is there, which is so while the server works on something else as well.
std::optional<std::string> answer_to_ping(std::string_view line);

/// The answer to a line that is longer than kLongestMessage.
std::string answer_to_long_line();

/// Splits what arrives into lines.
class Lines {
 public:
  struct Line {
    std::string text;
    bool is_too_long = false;  ///< then the text is not kept
  };

  void add(std::string_view bytes);
  /// The next complete line; nothing until there is one.
  std::optional<Line> next();
  /// What follows the last line feed, at the end of the input; nothing if that is nothing.
  std::optional<Line> rest();

 private:
  std::string pending_;
  std::size_t searched_ = 0;  ///< bytes of `pending_` known to hold no line feed
  bool is_too_long_ = false;  ///< the line that is arriving
};

}  // namespace profline::mcp
