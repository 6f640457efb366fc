#include "mcp/protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "formats/json.h"

namespace profline::mcp {
namespace {

// JSON-RPC 2.0, section 5.1.
constexpr std::int64_t kParseError = -32700;
constexpr std::int64_t kInvalidRequest = -32600;
constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;

/// Newest first. A client that asks for another one is offered the newest.
constexpr std::array<std::string_view, 4> kProtocolVersions = {"2025-11-25", "2025-06-18",
                                                               "2025-03-26", "2024-11-05"};

Node text_node(std::string_view text) {
  return Node::string(std::string(text));
}

Node map_of(std::initializer_list<std::pair<std::string_view, Node>> entries) {
  NodeMap map;
  for (const auto& [key, value] : entries) map.set(std::string(key), value);
  return Node::map(std::move(map));
}

Node envelope(const Node& id, std::string_view key, Node content) {
  NodeMap message;
  message.set("jsonrpc", Node::string("2.0"));
  message.set("id", id);
  message.set(std::string(key), std::move(content));
  return Node::map(std::move(message));
}

Node success(const Node& id, Node result) {
  return envelope(id, "result", std::move(result));
}

Node failure(const Node& id, std::int64_t code, std::string message) {
  return envelope(
      id, "error",
      map_of({{"code", Node::integer(code)}, {"message", Node::string(std::move(message))}}));
}

std::string written(const Node& message) {
  auto text = write_json(message, {.indent = 0, .bytes_as_base64 = true});
  if (text) return std::move(*text);
  const Node* id = message.find("id");
  const Node instead = failure(id == nullptr ? Node() : *id, kInvalidRequest,
                               "the answer cannot be written: " + text.error().to_string());
  return write_json(instead, {.indent = 0}).value_or("");
}

bool is_id(const Node& node) {
  return node.is_string() || node.is_int() || node.is_float() || node.kind() == Node::Kind::BigInt;
}

/// The result of a tool: the content as data, and as text for clients that know no data.
Node tool_result(Node content, std::string text, bool is_error) {
  Node::List blocks;
  blocks.push_back(
      map_of({{"type", Node::string("text")}, {"text", Node::string(std::move(text))}}));
  NodeMap result;
  result.set("content", Node::list(std::move(blocks)));
  if (!is_error) result.set("structuredContent", std::move(content));
  result.set("isError", Node::boolean(is_error));
  return Node::map(std::move(result));
}

/// Reports to a client that sent a token with its request; else empty.
Follower follower_of(const Node& parameters, const Send& send) {
  const Node* meta = parameters.find("_meta");
  const Node* token = meta != nullptr && meta->is_map() ? meta->find("progressToken") : nullptr;
  if (!send || token == nullptr || !is_id(*token)) return {};
  // The protocol wants a number that grows.
  return [token = *token, send, count = std::int64_t{0}](std::string_view what) mutable {
    send(written(map_of({{"jsonrpc", text_node("2.0")},
                         {"method", text_node("notifications/progress")},
                         {"params", map_of({{"progressToken", token},
                                            {"progress", Node::integer(++count)},
                                            {"message", text_node(what)}})}})));
  };
}

}  // namespace

Node Server::initialize(const Node& parameters) const {
  const Node* asked = parameters.find("protocolVersion");
  std::string_view version = kProtocolVersions.front();
  if (asked != nullptr && asked->is_string()) {
    const auto known =
        std::find(kProtocolVersions.begin(), kProtocolVersions.end(), asked->as_string());
    if (known != kProtocolVersions.end()) version = *known;
  }
  return map_of({{"protocolVersion", text_node(version)},
                 {"capabilities", map_of({{"tools", Node::map()}})},
                 {"serverInfo", map_of({{"name", text_node(facts_.name)},
                                        {"version", text_node(facts_.version)}})},
                 {"instructions", text_node(facts_.instructions)}});
}

Node Server::list_tools() const {
  Node tools = Node::list();
  for (ToolDescription& tool : tools_.list()) {
    NodeMap entry;
    entry.set("name", text_node(tool.name));
    entry.set("description", text_node(tool.description));
    entry.set("inputSchema", std::move(tool.input_schema));
    entry.set("annotations", map_of({{"readOnlyHint", Node::boolean(tool.is_read_only)},
                                     {"openWorldHint", Node::boolean(false)}}));
    tools.as_list().push_back(Node::map(std::move(entry)));
  }
  return map_of({{"tools", std::move(tools)}});
}

Node Server::call_tool(const Node& id, const Node& parameters, const Send& send) {
  const Node* name = parameters.find("name");
  if (name == nullptr || !name->is_string()) {
    return failure(id, kInvalidParams, "tools/call needs the name of a tool");
  }
  const std::vector<ToolDescription> tools = tools_.list();
  const bool is_known = std::any_of(tools.begin(), tools.end(), [&](const ToolDescription& tool) {
    return tool.name == name->as_string();
  });
  if (!is_known) return failure(id, kInvalidParams, "unknown tool '" + name->as_string() + "'");
  const Node* given = parameters.find("arguments");
  const Node arguments = given == nullptr || given->is_null() ? Node::map() : *given;
  if (!arguments.is_map()) {
    return failure(id, kInvalidParams, "the arguments of a tool are a map");
  }
  auto content = tools_.call(name->as_string(), arguments, follower_of(parameters, send));
  if (!content) return success(id, tool_result(Node(), content.error().to_string(), true));
  auto text = write_json(*content, {.indent = 0, .bytes_as_base64 = true});
  if (!text) return success(id, tool_result(Node(), text.error().to_string(), true));
  return success(id, tool_result(std::move(*content), std::move(*text), false));
}

Node Server::dispatch(const Node& id, std::string_view method, const Node& parameters,
                      const Send& send) {
  if (method == "initialize") return success(id, initialize(parameters));
  if (method == "ping") return success(id, Node::map());
  if (method == "tools/list") return success(id, list_tools());
  if (method == "tools/call") return call_tool(id, parameters, send);
  return failure(id, kMethodNotFound, "unknown method '" + std::string(method) + "'");
}

std::optional<Node> Server::answer_message(const Node& message, const Send& send) {
  if (!message.is_map()) return failure(Node(), kInvalidRequest, "a message is a map");
  const Node* id = message.find("id");
  const Node* method = message.find("method");
  const bool is_response = message.find("result") != nullptr || message.find("error") != nullptr;
  if (method == nullptr && is_response) return std::nullopt;
  if (id != nullptr && !is_id(*id)) {
    return failure(Node(), kInvalidRequest, "an id is a string or a number");
  }
  if (method == nullptr || !method->is_string()) {
    return failure(id == nullptr ? Node() : *id, kInvalidRequest, "a request has a method");
  }
  if (id == nullptr) return std::nullopt;  // a notification
  const Node* given = message.find("params");
  const Node parameters = given == nullptr || given->is_null() ? Node::map() : *given;
  if (!parameters.is_map()) return failure(*id, kInvalidParams, "parameters are a map");
  return dispatch(*id, method->as_string(), parameters, send);
}

std::optional<std::string> Server::answer(std::string_view line, const Send& send) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return std::nullopt;
  const auto message = parse_json(line, "the message");
  if (!message) return written(failure(Node(), kParseError, message.error().message()));
  if (!message->is_list()) {
    const auto answered = answer_message(*message, send);
    if (!answered) return std::nullopt;
    return written(*answered);
  }
  // A batch, which protocol version 2025-03-26 has.
  if (message->as_list().empty()) {
    return written(failure(Node(), kInvalidRequest, "a batch has at least one message"));
  }
  Node answers = Node::list();
  for (const Node& each : message->as_list()) {
    if (auto answered = answer_message(each, send))
      answers.as_list().push_back(std::move(*answered));
  }
  if (answers.as_list().empty()) return std::nullopt;
  return written(answers);
}

std::optional<std::string> answer_to_ping(std::string_view line) {
  // Most lines need not be parsed for this.
  constexpr std::size_t kLongestPing = 4096;
  if (line.size() > kLongestPing || line.find("\"ping\"") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto message = parse_json(line, "the message");
  if (!message || !message->is_map()) return std::nullopt;
  const Node* id = message->find("id");
  const Node* method = message->find("method");
  const bool is_ping = id != nullptr && is_id(*id) && method != nullptr && method->is_string() &&
                       method->as_string() == "ping";
  if (!is_ping) return std::nullopt;
  return written(success(*id, Node::map()));
}

std::string answer_to_long_line() {
  return written(failure(Node(), kInvalidRequest, "the message is longer than 4 MiB"));
}

void Lines::add(std::string_view bytes) {
  pending_.append(bytes);
  if (pending_.size() <= kLongestMessage) return;
  // Keeps what comes after the long line's end, if that has arrived.
  const std::size_t end = pending_.find('\n', searched_);
  if (end != std::string::npos) return;
  is_too_long_ = true;
  pending_.clear();
  searched_ = 0;
}

std::optional<Lines::Line> Lines::next() {
  const std::size_t end = pending_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = pending_.size();
    return std::nullopt;
  }
  Line line;
  line.is_too_long = std::exchange(is_too_long_, false) || end > kLongestMessage;
  if (!line.is_too_long) line.text = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

std::optional<Lines::Line> Lines::rest() {
  if (pending_.empty() && !is_too_long_) return std::nullopt;
  Line line{std::move(pending_), std::exchange(is_too_long_, false)};
  if (line.is_too_long) line.text.clear();
  pending_.clear();
  searched_ = 0;
  return line;
}

}  // namespace profline::mcp
