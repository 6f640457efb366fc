#include "mcp/cited.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/figures.h"
#include "base/files.h"
#include "base/redaction.h"
#include "base/strings.h"
#include "formats/json.h"
#include "process/runner.h"

namespace profline::mcp {
namespace {

/// The next step of a pointer, unescaped.
std::string unescaped(std::string_view step) {
  std::string key;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~' || i + 1 == step.size()) {
      key += step[i];
      continue;
    }
    ++i;
    key += step[i] == '1' ? '/' : '~';
  }
  return key;
}

const Node* child(const Node& node, std::string_view step) {
  if (node.is_map()) return node.find(unescaped(step));
  if (!node.is_list()) return nullptr;
  const bool has_leading_zero = step.size() > 1 && step.front() == '0';
  const auto index = whole_number<std::size_t>(step);
  if (!index || has_leading_zero || *index >= node.as_list().size()) return nullptr;
  return &node.as_list()[*index];
}

std::optional<double> number_of(const Node& node) {
  if (node.is_int()) return static_cast<double>(node.as_int());
  if (node.is_float()) return node.as_float();
  return std::nullopt;
}

constexpr std::array<std::string_view, 20> kShares = {
    "share",         "rest_share",   "busy_share",      "saved_share",    "mfu",
    "bandwidth",     "of_floor",     "with_counters",   "with_operators", "with_flops",
    "compute_share", "memory_share", "mean_busy_share", "disturbance",    "threshold",
    "confidence",    "at_most",      "smallest_effect", "slo_share",      "good_share"};
constexpr std::array<std::string_view, 4> kChanges = {"change", "low", "high",
                                                      "change_at_equal_clocks"};

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The last part of `decode: time.mean_ns`.
std::string_view key_of(std::string_view pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

/// What distinguishes a row of a list; else its number.
std::string row_name(const Node& row, std::size_t number) {
  std::string name;
  for (const char* key : {"name", "stage", "phase", "reason"}) {
    const Node* text = row.find(key);
    if (text == nullptr || !text->is_string() || text->as_string().empty()) continue;
    name += (name.empty() ? "" : " ") + text->as_string();
    if (std::string_view(key) == "name") break;
  }
  return name.empty() ? std::to_string(number) : name;
}

}  // namespace

const Node* at_pointer(const Node& tree, std::string_view pointer) {
  const Node* at = &tree;
  while (at != nullptr && !pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    at = child(*at, pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return at;
}

std::string below(std::string_view pointer, std::string_view key) {
  std::string extended(pointer);
  extended += '/';
  for (const char c : key) {
    if (c == '~') {
      extended += "~0";
    } else if (c == '/') {
      extended += "~1";
    } else {
      extended += c;
    }
  }
  return extended;
}

std::string below(std::string_view pointer, std::size_t index) {
  return below(pointer, std::to_string(index));
}

Result<Document> read_document(const std::filesystem::path& file) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(file, failure);
  if (!failure && size > kLargestDocument) {
    return Error(ErrorKind::Config, file.string() + " is larger than " +
                                        human_bytes(kLargestDocument) +
                                        ": too large to be quoted from");
  }
  const Node tree = PL_TRY(parse_json(PL_TRY(read_file(file)), file.string()));
  return Document{.file = file.string(),
                  .tree = std::make_shared<const Node>(redacted(tree, Redactor()))};
}

Document printed_by(const std::vector<std::string>& words, Node tree,
                    const std::filesystem::path& folder) {
  Command command;
  command.argv = {"profline"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.argv.insert(command.argv.end(), {"--format", "json"});
  return {.command = display(command),
          .folder = folder.string(),
          .tree = std::make_shared<const Node>(std::move(tree))};
}

std::string value_words(std::string_view key, const Node& value) {
  const auto number = number_of(value);
  if (!number) return "";
  if (key.ends_with("_ns")) return duration(*number);
  if (key.ends_with("_ms"))
    return human_duration(std::chrono::duration<double, std::milli>(*number));
  if (key.ends_with("bytes") && *number >= 0) {
    return human_bytes(static_cast<std::uint64_t>(*number));
  }
  if (is_one_of(key, kShares)) return percent(*number);
  if (is_one_of(key, kChanges)) return signed_percent(*number);
  if (key == "tokens_per_second") return human_rate(*number, "tokens");
  if (key == "slowdown" || key == "speedup") return factor(*number);
  if (key == "flops" || key == "model_flops") return amount(*number, "FLOP");
  if (key == "bytes_per_second") return amount(*number, "B/s");
  return "";
}

std::size_t Answer::add(Document document) {
  documents_.push_back(std::move(document));
  return documents_.size() - 1;
}

void Answer::say(const std::string& sentence) {
  text_ += (text_.empty() ? "" : " ") + sentence;
}

bool Answer::fact(std::size_t document, const std::string& pointer, std::string what,
                  std::string words) {
  const Node* value = at_pointer(tree(document), pointer);
  if (value == nullptr || value->is_null() || !value->is_scalar()) return false;
  if (value->is_string() && value->as_string().empty()) return false;
  if (words.empty()) words = value_words(key_of(pointer), *value);
  facts_.push_back({std::move(what), document, pointer, std::move(words)});
  return true;
}

void Answer::facts(std::size_t document, const std::string& pointer, const std::string& what,
                   const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    fact(document, below(pointer, key), what + ": " + std::string(key));
  }
}

void Answer::every_fact(std::size_t document, const std::string& pointer, const std::string& what,
                        const std::function<bool(std::string_view what)>& wanted) {
  const Node* value = at_pointer(tree(document), pointer);
  if (value == nullptr) return;
  const auto longer = [&](const std::string& key) {
    if (what.empty() || what.ends_with(": ")) return what + key;
    return what + "." + key;
  };
  if (value->is_map()) {
    for (const NodeMap::Entry& entry : value->as_map()) {
      if (!entry.key.is_string()) continue;
      const std::string& key = entry.key.as_string();
      every_fact(document, below(pointer, key), longer(key), wanted);
    }
  } else if (value->is_list()) {
    for (std::size_t i = 0; i < value->as_list().size(); ++i) {
      every_fact(document, below(pointer, i), longer(row_name(value->as_list()[i], i)), wanted);
    }
  } else if (!wanted || wanted(what)) {
    fact(document, pointer, what);
  }
}

void Answer::missing(std::string what, std::string why) {
  missing_.push_back({std::move(what), std::move(why)});
}

void Answer::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
    notes_.push_back(std::move(text));
  }
}

Node Answer::to_node(std::size_t most) const {
  NodeMap content;
  content.set("answer", Node::string(text_));
  std::vector<bool> is_used(documents_.size(), false);
  const auto name_of = [](std::size_t document) { return "d" + std::to_string(document + 1); };
  Node facts = Node::list();
  const std::size_t shown = std::min(most, facts_.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Fact& fact = facts_[i];
    is_used[fact.document] = true;
    NodeMap entry;
    entry.set("what", Node::string(fact.what));
    entry.set("value", *at_pointer(tree(fact.document), fact.pointer));
    if (!fact.words.empty()) entry.set("text", Node::string(fact.words));
    entry.set("document", Node::string(name_of(fact.document)));
    entry.set("pointer", Node::string(fact.pointer));
    facts.as_list().push_back(Node::map(std::move(entry)));
  }
  content.set("facts", std::move(facts));
  NodeMap documents;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    if (!is_used[i]) continue;
    const Document& document = documents_[i];
    NodeMap entry;
    if (!document.file.empty()) entry.set("file", Node::string(document.file));
    if (!document.command.empty()) entry.set("command", Node::string(document.command));
    if (!document.folder.empty()) entry.set("start_in", Node::string(document.folder));
    documents.set(name_of(i), Node::map(std::move(entry)));
  }
  content.set("documents", Node::map(std::move(documents)));
  if (!missing_.empty()) {
    Node list = Node::list();
    for (const Absence& absence : missing_) {
      NodeMap entry;
      entry.set("what", Node::string(absence.what));
      entry.set("why", Node::string(absence.why));
      list.as_list().push_back(Node::map(std::move(entry)));
    }
    content.set("missing", std::move(list));
  }
  if (!notes_.empty()) {
    Node list = Node::list();
    for (const std::string& note : notes_) list.as_list().push_back(Node::string(note));
    content.set("notes", std::move(list));
  }
  if (shown < facts_.size()) {
    content.set("left_out", Node::integer(static_cast<std::int64_t>(facts_.size() - shown)));
  }
  return Node::map(std::move(content));
}

}  // namespace profline::mcp
