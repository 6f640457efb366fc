#include "load/stream.h"

#include <algorithm>

#include "base/strings.h"
#include "formats/json.h"
#include "formats/node.h"

namespace profline::load {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::int64_t kMostTokens = std::int64_t{1} << 32U;

/// Whether the value is a text that is not empty; appended to `text`.
bool take_text(const Node* value, std::string& text) {
  if (value == nullptr || !value->is_string() || value->as_string().empty()) return false;
  text += value->as_string();
  return true;
}

/// The arguments and names of calls count as output, their ids and types do not.
bool take_tool_calls(const Node* calls, std::string& text) {
  bool has_output = false;
  if (calls == nullptr || !calls->is_list()) return false;
  for (const Node& call : calls->as_list()) {
    const Node* const function = call.find("function");
    if (function == nullptr) continue;
    has_output |= take_text(function->find("name"), text);
    has_output |= take_text(function->find("arguments"), text);
  }
  return has_output;
}

bool take_delta(const Node& delta, std::string& text) {
  bool has_output = false;
  // Reasoning has two names: vLLM, SGLang and llama-server use the first, others the second.
  for (const char* key : {"reasoning_content", "reasoning", "content", "refusal"}) {
    has_output |= take_text(delta.find(key), text);
  }
  return take_tool_calls(delta.find("tool_calls"), text) || has_output;
}

std::optional<std::uint64_t> token_count(const Node& usage, std::string_view key) {
  const Node* const value = usage.find(key);
  if (value == nullptr || !value->is_int()) return std::nullopt;
  if (value->as_int() < 0 || value->as_int() > kMostTokens) return std::nullopt;
  return static_cast<std::uint64_t>(value->as_int());
}

/// `{"error": {"message": ...}}`, `{"error": "..."}`, `{"message": ...}`, `{"detail": ...}`.
std::string message_of(const Node& tree) {
  for (const char* path : {"error.message", "error", "message", "detail"}) {
    const Node* const value = tree.find_path(path);
    if (value == nullptr || value->is_null()) continue;
    if (value->is_string()) return value->as_string();
    auto text = write_json(*value, {.indent = 0});
    if (text) return *std::move(text);
  }
  return "";
}

/// On one line, at most `most` bytes, not cut within a character.
std::string one_line(std::string_view text, std::size_t most) {
  std::string line(trim(text));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  if (line.size() <= most) return line;
  line.resize(most);
  if (const auto broken = first_invalid_utf8(line); broken && most - *broken < 4) {
    line.resize(*broken);
  }
  return line + "...";
}

Chunk malformed(std::string why) {
  Chunk chunk;
  chunk.kind = Chunk::Kind::Malformed;
  chunk.text = std::move(why);
  return chunk;
}

bool is_error(const Node& tree) {
  const Node* const error = tree.find("error");
  return error != nullptr && !error->is_null();
}

void take_choice(const Node& choice, Chunk& chunk) {
  if (const Node* finish = choice.find("finish_reason"); finish != nullptr && finish->is_string()) {
    chunk.finish = finish->as_string();
  }
  bool has_output = take_text(choice.find("text"), chunk.text);
  for (const char* key : {"delta", "message"}) {
    if (const Node* delta = choice.find(key)) has_output |= take_delta(*delta, chunk.text);
  }
  if (has_output) chunk.kind = Chunk::Kind::Output;
}

}  // namespace

bool EventParser::feed(std::string_view bytes, const Take& take) {
  if (is_broken_) return false;
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + data_.size() + part.size() > kMostBytes) {
      is_broken_ = true;
      line_ = data_ = {};
      return false;
    }
    line_ += part;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(take);
  }
  return true;
}

void EventParser::end_line(const Take& take) {
  std::string_view line = line_;
  if (is_first_line_ && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  is_first_line_ = false;
  if (line.empty()) {
    dispatch(take);
  } else {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
      if (has_data_) data_ += '\n';
      data_ += value;
      has_data_ = true;
    } else if (name == "event") {
      type_ = value;
    }
  }
  line_.clear();
}

void EventParser::dispatch(const Take& take) {
  if (has_data_) take({type_, data_});
  data_.clear();
  type_.clear();
  has_data_ = false;
}

void EventParser::end(const Take& take) {
  if (is_broken_) return;
  if (!line_.empty()) end_line(take);
  dispatch(take);
}

Chunk interpret(const EventParser::Event& event) {
  Chunk chunk;
  if (trim(event.data) == "[DONE]") {
    chunk.kind = Chunk::Kind::Done;
    return chunk;
  }
  const auto tree = parse_json(event.data, "event");
  if (event.type == "error" || (tree && is_error(*tree))) {
    chunk.kind = Chunk::Kind::Error;
    chunk.text = error_message(event.data);
    return chunk;
  }
  if (!tree) return malformed("an event that is not JSON: " + one_line(event.data, 80));
  if (!tree->is_map()) return malformed("an event that is not an object");
  const Node* const usage = tree->find("usage");
  if (usage != nullptr && usage->is_map()) {
    chunk.prompt_tokens = token_count(*usage, "prompt_tokens");
    chunk.output_tokens = token_count(*usage, "completion_tokens");
  }
  const Node* const choices = tree->find("choices");
  if (choices == nullptr) {
    if (usage != nullptr) return chunk;
    return malformed("an event without choices: " + one_line(event.data, 80));
  }
  if (!choices->is_list()) return malformed("an event whose choices are not a list");
  for (const Node& choice : choices->as_list()) take_choice(choice, chunk);
  return chunk;
}

std::string error_message(std::string_view body, std::size_t most) {
  const auto tree = parse_json(body, "answer");
  const std::string message = tree && tree->is_map() ? message_of(*tree) : "";
  return one_line(message.empty() ? body : message, most);
}

}  // namespace profline::load
