#include "inputs/tokenizer/internal/byte_symbols.h"
#include "inputs/tokenizer/internal/cursor.h"
#include "inputs/tokenizer/internal/tokenizer_json.h"
#include "schema/value_text.h"

namespace profline::tokenizer::internal {
namespace {

using Vocabulary = std::unordered_map<std::string, TokenId>;

bool is_id(const Node& node) {
  return node.is_int() && node.as_int() >= 0 && node.as_int() < kIdLimit;
}
std::string id_text() {
  return "an integer from 0 to " + std::to_string(kIdLimit - 1);
}

/// Keys of the model that would change how it works.
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
                 " is that of " + schema::shown(Node::string(*owner->second)) + " already");
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

}  // namespace

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
      return id.wrong("the id " + std::to_string(token.id) + " is that of " +
                      schema::shown(Node::string(owner->second)) + " already");
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace profline::tokenizer::internal
