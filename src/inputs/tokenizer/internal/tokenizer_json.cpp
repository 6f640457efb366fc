#include "inputs/tokenizer/internal/tokenizer_json.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/tokenizer/internal/bpe.h"
#include "schema/docs.h"

namespace profline::tokenizer::internal {
namespace {

/// A value of a JSON file with its path, for messages.
class Cursor {
 public:
  Cursor(const Node& node, std::string path) : node_(&node), path_(std::move(path)) {}

  const Node& node() const { return *node_; }
  /// `path: what`, at the place of the value.
  Error wrong(const std::string& what) const;
  /// `path: must be <expected>, not <value>`.
  Error mismatch(std::string_view expected) const;

  /// A missing key is an Error.
  Result<Cursor> at(std::string_view key) const;
  /// Nothing for a missing key and for null.
  std::optional<Cursor> find(std::string_view key) const;
  Cursor item(std::size_t index) const;

  Result<std::string> text() const;
  /// Whether it is this string.
  bool is(std::string_view text) const;
  /// The boolean under a key that may be absent or null.
  Result<bool> flag(std::string_view key, bool fallback) const;
  Result<void> require_list() const;

 private:
  const Node* node_;
  std::string path_;
};

// GPT-2's splitting of text, which ByteLevel uses unless it is disabled.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Error Cursor::wrong(const std::string& what) const {
  return Error(ErrorKind::Parse, path_.empty() ? what : path_ + ": " + what, node_->position());
}

Error Cursor::mismatch(std::string_view expected) const {
  return wrong("must be " + std::string(expected) + ", not " + schema::shown_with_kind(*node_));
}

Result<Cursor> Cursor::at(std::string_view key) const {
  if (!node_->is_map()) return mismatch("a map");
  const Node* value = node_->find(key);
  if (value == nullptr) return wrong("missing key '" + std::string(key) + "'");
  return Cursor(*value, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

std::optional<Cursor> Cursor::find(std::string_view key) const {
  const Node* value = node_->find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return Cursor(*value, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

Cursor Cursor::item(std::size_t index) const {
  return {node_->as_list()[index], path_ + "." + std::to_string(index)};
}

Result<std::string> Cursor::text() const {
  if (!node_->is_string()) return mismatch("a string");
  return node_->as_string();
}

bool Cursor::is(std::string_view text) const {
  return node_->is_string() && node_->as_string() == text;
}

Result<bool> Cursor::flag(std::string_view key, bool fallback) const {
  const auto value = find(key);
  if (!value) return fallback;
  if (!value->node().is_bool()) return value->mismatch("a boolean");
  return value->node().as_bool();
}

Result<void> Cursor::require_list() const {
  if (!node_->is_list()) return mismatch("a list");
  return {};
}

Result<Behavior> read_behavior(const Cursor& cursor) {
  struct Name {
    std::string_view text;
    Behavior behavior;
  };
  constexpr std::array kNames = {
      Name{"Removed", Behavior::Removed},
      Name{"Isolated", Behavior::Isolated},
      Name{"MergedWithPrevious", Behavior::MergedWithPrevious},
      Name{"MergedWithNext", Behavior::MergedWithNext},
      Name{"Contiguous", Behavior::Contiguous},
  };
  for (const Name& name : kNames) {
    if (cursor.is(name.text)) return name.behavior;
  }
  return cursor.mismatch(
      "one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

Result<Split> read_split(const Cursor& cursor) {
  const Behavior behavior = PL_TRY(read_behavior(PL_TRY(cursor.at("behavior"))));
  const bool invert = PL_TRY(cursor.flag("invert", false));
  const Cursor pattern = PL_TRY(cursor.at("pattern"));
  if (const auto literal = pattern.find("String")) {
    return Split{PL_TRY(literal->text()), behavior, invert};
  }
  const auto regex = pattern.find("Regex");
  if (!regex) return pattern.wrong("must have a string 'Regex' or 'String'");
  auto compiled = Regex::compile(PL_TRY(regex->text()));
  if (!compiled) return regex->wrong(compiled.error().message());
  return Split{std::move(*compiled), behavior, invert};
}

Result<void> read_byte_level(const Cursor& cursor, PreTokenizer& out) {
  out.add_prefix_space = PL_TRY(cursor.flag("add_prefix_space", true));
  if (PL_TRY(cursor.flag("use_regex", true))) {
    out.byte_level = Split{PL_TRY(Regex::compile(kGpt2Pattern)), Behavior::Isolated, false};
  }
  return {};
}

/// The stages, whether in a Sequence or a single one.
Result<std::vector<Cursor>> stages_of(const Cursor& cursor) {
  if (!PL_TRY(cursor.at("type")).is("Sequence")) return std::vector{cursor};
  const Cursor list = PL_TRY(cursor.at("pretokenizers"));
  PL_TRY(list.require_list());
  std::vector<Cursor> stages;
  for (std::size_t i = 0; i < list.node().as_list().size(); ++i) stages.push_back(list.item(i));
  return stages;
}

using Vocabulary = std::unordered_map<std::string, TokenId>;

bool is_id(const Node& node) {
  return node.is_int() && node.as_int() >= 0 && node.as_int() < kIdLimit;
}
std::string id_text() {
  return "an integer from 0 to " + std::to_string(kIdLimit - 1);
}

/// Keys of the model that would change its behaviour.
Result<void> check_options(const Cursor& model) {
  const Cursor type = PL_TRY(model.at("type"));
  if (!type.is("BPE")) return type.mismatch("'BPE'");
  if (const auto dropout = model.find("dropout")) return dropout->mismatch("null");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto affix = model.find(key);
    if (affix && !affix->is("")) return affix->mismatch("null or empty");
  }
  if (PL_TRY(model.flag("byte_fallback", false))) {
    return PL_TRY(model.at("byte_fallback")).mismatch("false: all bytes are in the vocabulary");
  }
  return {};
}

Result<Vocabulary> read_vocabulary(const Cursor& cursor) {
  if (!cursor.node().is_map()) return cursor.mismatch("a map from tokens to ids");
  Vocabulary vocabulary;
  vocabulary.reserve(cursor.node().as_map().size());
  std::unordered_map<TokenId, const std::string*> owners;
  for (const NodeMap::Entry& entry : cursor.node().as_map()) {
    if (!is_id(entry.value)) {
      return Cursor(entry.value, "model.vocab")
          .wrong("the id of " + schema::shown(entry.key) + " must be " + id_text() + ", not " +
                 schema::shown_with_kind(entry.value));
    }
    const auto [owner, is_new] = owners.emplace(entry.value.as_int(), &entry.key.as_string());
    if (!is_new) {
      return Cursor(entry.value, "model.vocab")
          .wrong("the id " + std::to_string(owner->first) + " of " + schema::shown(entry.key) +
                 " is already that of " + schema::shown(Node::string(*owner->second)));
    }
    vocabulary.emplace(entry.key.as_string(), entry.value.as_int());
  }
  return vocabulary;
}

/// `["a", "b"]` or, in older files, `"a b"`.
struct Pair {
  std::string left, right;
};
Result<Pair> read_pair(const Cursor& cursor) {
  constexpr std::string_view kExpected = "two tokens: [\"a\", \"b\"] or \"a b\"";
  const Node& node = cursor.node();
  if (node.is_string()) {
    const std::string& text = node.as_string();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      return cursor.mismatch(kExpected);
    }
    return Pair{text.substr(0, space), text.substr(space + 1)};
  }
  if (!node.is_list() || node.as_list().size() != 2) return cursor.mismatch(kExpected);
  for (const Node& item : node.as_list()) {
    if (!item.is_string()) return cursor.mismatch(kExpected);
  }
  return Pair{node.as_list()[0].as_string(), node.as_list()[1].as_string()};
}

Result<MergeTable> read_merges(const Cursor& cursor, const Vocabulary& vocabulary) {
  PL_TRY(cursor.require_list());
  const Node::List& items = cursor.node().as_list();
  MergeTable merges(items.size());
  std::uint32_t rank = 0;
  for (const Node& item : items) {
    const Cursor place(item, "model.merges");
    if (item.is_string() && item.as_string().starts_with("#version")) continue;
    const Pair pair = PL_TRY(read_pair(place));
    std::uint32_t ids[3];
    std::size_t next = 0;
    for (const std::string& token : {pair.left, pair.right, pair.left + pair.right}) {
      const auto found = vocabulary.find(token);
      if (found == vocabulary.end()) {
        return place.wrong("the token " + schema::shown(Node::string(token)) +
                           " of a merge is not in the vocabulary");
      }
      ids[next++] = static_cast<std::uint32_t>(found->second);
    }
    merges.add(ids[0], ids[1], {rank++, ids[2]});
  }
  return merges;
}

Result<std::array<std::uint32_t, 256>> read_byte_ids(const Cursor& cursor,
                                                     const Vocabulary& vocabulary) {
  std::array<std::uint32_t, 256> ids{};
  for (unsigned byte = 0; byte < ids.size(); ++byte) {
    const std::string symbol = symbol_of(static_cast<unsigned char>(byte));
    const auto found = vocabulary.find(symbol);
    if (found == vocabulary.end()) {
      return cursor.wrong("has no token " + schema::shown(Node::string(symbol)) + " for the byte " +
                          std::to_string(byte) + ": only byte-level BPE is known");
    }
    ids[byte] = static_cast<std::uint32_t>(found->second);
  }
  return ids;
}

Result<void> check_version(const Cursor& root) {
  const auto version = root.find("version");
  if (!version) return {};
  if (!version->is("1.0")) return version->mismatch("'1.0'");
  return {};
}

/// Null, or an empty Sequence.
Result<void> check_normalizer(const Cursor& root) {
  const auto normalizer = root.find("normalizer");
  if (!normalizer) return {};
  const Cursor type = PL_TRY(normalizer->at("type"));
  if (!type.is("Sequence")) return type.mismatch("'Sequence', an empty one");
  const Cursor list = PL_TRY(normalizer->at("normalizers"));
  PL_TRY(list.require_list());
  if (list.node().as_list().empty()) return {};
  return list.wrong("must be empty: text is encoded as it is");
}

Result<void> check_decoder(const Cursor& root) {
  const Cursor decoder = PL_TRY(root.at("decoder"));
  if (!decoder.node().is_map()) return decoder.mismatch("a map with type ByteLevel");
  const Cursor type = PL_TRY(decoder.at("type"));
  if (!type.is("ByteLevel")) return type.mismatch("'ByteLevel'");
  return {};
}

Result<PreTokenizer> read_pre_tokenizer(const Node& tree) {
  const Cursor root(tree, "");
  const auto cursor = root.find("pre_tokenizer");
  if (!cursor) return root.wrong("must have a pre_tokenizer that ends in ByteLevel");
  PreTokenizer out;
  bool has_byte_level = false;
  for (const Cursor& stage : PL_TRY(stages_of(*cursor))) {
    if (has_byte_level) return stage.wrong("nothing may follow ByteLevel");
    const Cursor type = PL_TRY(stage.at("type"));
    if (type.is("Split")) {
      out.splits.push_back(PL_TRY(read_split(stage)));
    } else if (type.is("ByteLevel")) {
      PL_TRY(read_byte_level(stage, out));
      has_byte_level = true;
    } else {
      return type.mismatch("Split or ByteLevel");
    }
  }
  if (!has_byte_level) return cursor->wrong("must end in ByteLevel: only byte-level BPE is known");
  return out;
}

Result<void> read_model(const Node& tree, Description& description) {
  const Cursor model = PL_TRY(Cursor(tree, "").at("model"));
  PL_TRY(check_options(model));
  const Cursor vocabulary = PL_TRY(model.at("vocab"));
  description.vocabulary = PL_TRY(read_vocabulary(vocabulary));
  description.bpe.byte_ids = PL_TRY(read_byte_ids(vocabulary, description.vocabulary));
  description.bpe.merges = PL_TRY(read_merges(PL_TRY(model.at("merges")), description.vocabulary));
  if (PL_TRY(model.flag("ignore_merges", false))) {
    for (const auto& [token, id] : description.vocabulary) {
      auto bytes = bytes_of_symbols(token);
      if (bytes)
        description.bpe.whole_words.emplace(std::move(*bytes), static_cast<std::uint32_t>(id));
    }
  }
  return {};
}

Result<std::vector<AddedToken>> read_added_tokens(const Node& tree, const Vocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  const auto list = Cursor(tree, "").find("added_tokens");
  if (!list) return tokens;
  PL_TRY(list->require_list());
  std::unordered_map<TokenId, std::string> owners;
  for (const auto& [token, id] : vocabulary) owners.emplace(id, token);
  std::unordered_map<std::string, TokenId> seen = vocabulary;
  for (std::size_t i = 0; i < list->node().as_list().size(); ++i) {
    const Cursor cursor = list->item(i);
    const Cursor id = PL_TRY(cursor.at("id"));
    if (!is_id(id.node())) return id.mismatch(id_text());
    AddedToken token{.id = id.node().as_int(),
                     .content = PL_TRY(PL_TRY(cursor.at("content")).text()),
                     .single_word = PL_TRY(cursor.flag("single_word", false)),
                     .lstrip = PL_TRY(cursor.flag("lstrip", false)),
                     .rstrip = PL_TRY(cursor.flag("rstrip", false)),
                     .normalized = PL_TRY(cursor.flag("normalized", true)),
                     .special = PL_TRY(cursor.flag("special", false))};
    if (token.content.empty()) return cursor.wrong("content: must not be empty");
    const auto [known, is_new] = seen.emplace(token.content, token.id);
    const auto [owner, is_free] = owners.emplace(token.id, token.content);
    if (known->second != token.id) {
      return id.wrong(schema::shown(Node::string(token.content)) + " has the id " +
                      std::to_string(known->second) + " already, not " + std::to_string(token.id));
    }
    if (owner->second != token.content) {
      return id.wrong("the id " + std::to_string(token.id) + " is already that of " +
                      schema::shown(Node::string(owner->second)));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

Result<Description> read_tokenizer(const Node& tree) {
  const Cursor root(tree, "");
  if (!tree.is_map()) return root.mismatch("a map");
  PL_TRY(check_version(root));
  PL_TRY(check_normalizer(root));
  PL_TRY(check_decoder(root));
  Description description;
  description.pre_tokenizer = PL_TRY(read_pre_tokenizer(tree));
  PL_TRY(read_model(tree, description));
  description.added = PL_TRY(read_added_tokens(tree, description.vocabulary));
  return description;
}

}  // namespace profline::tokenizer::internal
