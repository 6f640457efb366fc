#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "formats/node.h"
#include "inputs/tokenizer/internal/bpe.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer {
namespace {

constexpr std::array<std::string_view, 3> kSpecials = {"<｜begin▁of▁sentence｜>",
                                                       "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"};

constexpr std::array<std::string_view, 12> kAdded = {
    "<image>", "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>",
    "<td>",    "</td>",   "<tr>",     "</tr>",   "<|User|>", "<|Assistant|>"};

// Left and right, rank 0 first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 61> kMerges = {{
    {"Ġ", "t"},     {"0", "0"},        {"m", "a"},        {"Ġt", "h"},    {"Ġ", "i"},
    {"d", "o"},     {"g", "e"},        {"l", "e"},        {"ma", "ge"},   {"Ġth", "e"},
    {"t", "e"},     {"o", "n"},        {"t", "a"},        {"t", "i"},     {"te", "x"},
    {"tex", "t"},   {"Ġi", "mage"},    {"C", "R"},        {"O", "CR"},    {"r", "e"},
    {"C", "on"},    {"Con", "v"},      {"Conv", "e"},     {"Conve", "r"}, {"Conver", "t"},
    {"b", "le"},    {"c", "u"},        {"cu", "m"},       {"cum", "e"},   {"cume", "n"},
    {"cumen", "t"}, {"do", "cument"},  {"do", "w"},       {"dow", "n"},   {"i", "s"},
    {"k", "down"},  {"ma", "r"},       {"mar", "kdown"},  {"t", "le"},    {"ta", "ble"},
    {"ti", "tle"},  {"Ġ", "document"}, {"Ġ", "markdown"}, {"Ġt", "o"},    {"Ġth", "is"},
    {"1", "00"},    {"2", "00"},       {"3", "00"},       {"4", "00"},    {"F", "re"},
    {"Fre", "e"},   {"[", "["},        {"]", "]"},        {"c", "a"},     {"Ċ", "Ċ"},
    {"Ġ", "OCR"},   {"Ġi", "n"},       {"D", "e"},        {"De", "s"},    {"Des", "c"},
    {"Desc", "r"},
}};

// How the release splits text, one stage after the other.
constexpr std::array<std::string_view, 3> kPatterns = {
    R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+",
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

Node text(std::string_view value) {
  return Node::string(std::string(value));
}

Node object(std::initializer_list<std::pair<std::string, Node>> entries) {
  NodeMap map;
  for (const auto& [key, value] : entries) map.set(key, value);
  return Node::map(std::move(map));
}

/// Specials, the 256 byte symbols in the order of their characters, one token per merge.
Node vocabulary() {
  NodeMap ids;
  const auto add = [&ids](std::string token) {
    ids.set(std::move(token), Node::integer(static_cast<std::int64_t>(ids.size())));
  };
  for (const std::string_view special : kSpecials) add(std::string(special));
  std::vector<std::string> symbols;
  symbols.reserve(256);
  for (unsigned byte = 0; byte < 256; ++byte) {
    symbols.push_back(internal::symbol_of(static_cast<unsigned char>(byte)));
  }
  std::sort(symbols.begin(), symbols.end());  // UTF-8 sorts as its code points do
  for (std::string& symbol : symbols) add(std::move(symbol));
  for (const auto& [left, right] : kMerges) add(std::string(left) + std::string(right));
  return Node::map(std::move(ids));
}

Node merges() {
  Node::List pairs;
  for (const auto& [left, right] : kMerges) {
    pairs.push_back(Node::list({text(left), text(right)}));
  }
  return Node::list(std::move(pairs));
}

Node added_token(std::int64_t id, std::string_view content) {
  return object({{"id", Node::integer(id)},
                 {"content", text(content)},
                 {"single_word", Node::boolean(false)},
                 {"lstrip", Node::boolean(false)},
                 {"rstrip", Node::boolean(false)},
                 {"normalized", Node::boolean(false)},
                 {"special", Node::boolean(true)}});
}

Node added_tokens() {
  Node::List tokens;
  std::int64_t id = 0;
  for (const std::string_view special : kSpecials) tokens.push_back(added_token(id++, special));
  id = static_cast<std::int64_t>(kSpecials.size() + 256 + kMerges.size());
  for (const std::string_view token : kAdded) tokens.push_back(added_token(id++, token));
  return Node::list(std::move(tokens));
}

Node byte_level(bool as_pre_tokenizer) {
  return object({{"type", text("ByteLevel")},
                 {"add_prefix_space", Node::boolean(!as_pre_tokenizer)},
                 {"trim_offsets", Node::boolean(true)},
                 {"use_regex", Node::boolean(!as_pre_tokenizer)}});
}

Node pre_tokenizer() {
  Node::List stages;
  for (const std::string_view pattern : kPatterns) {
    stages.push_back(object({{"type", text("Split")},
                             {"pattern", object({{"Regex", text(pattern)}})},
                             {"behavior", text("Isolated")},
                             {"invert", Node::boolean(false)}}));
  }
  stages.push_back(byte_level(true));
  return object({{"type", text("Sequence")}, {"pretokenizers", Node::list(std::move(stages))}});
}

Node model() {
  return object({{"type", text("BPE")},
                 {"dropout", Node()},
                 {"unk_token", Node()},
                 {"continuing_subword_prefix", Node()},
                 {"end_of_word_suffix", Node()},
                 {"fuse_unk", Node::boolean(false)},
                 {"byte_fallback", Node::boolean(false)},
                 {"ignore_merges", Node::boolean(false)},
                 {"vocab", vocabulary()},
                 {"merges", merges()}});
}

/// What HF's tokenizers do if special tokens are requested: the first one goes first.
Node post_processor() {
  const std::string bos(kSpecials[0]);
  const auto special = [&] {
    return object({{"SpecialToken", object({{"id", text(bos)}, {"type_id", Node::integer(0)}})}});
  };
  const auto sequence = [](const char* id, std::int64_t type) {
    return object({{"Sequence", object({{"id", text(id)}, {"type_id", Node::integer(type)}})}});
  };
  return object(
      {{"type", text("TemplateProcessing")},
       {"single", Node::list({special(), sequence("A", 0)})},
       {"pair", Node::list({special(), sequence("A", 0), sequence("B", 1)})},
       {"special_tokens", object({{bos, object({{"id", text(bos)},
                                                {"ids", Node::list({Node::integer(0)})},
                                                {"tokens", Node::list({text(bos)})}})}})}});
}

}  // namespace

std::string tiny_tokenizer_json() {
  const Node tree =
      object({{"version", text("1.0")},
              {"truncation", Node()},
              {"padding", Node()},
              {"added_tokens", added_tokens()},
              {"normalizer", object({{"type", text("Sequence")}, {"normalizers", Node::list()}})},
              {"pre_tokenizer", pre_tokenizer()},
              {"post_processor", post_processor()},
              {"decoder", byte_level(false)},
              {"model", model()}});
  return write_json(tree).value();
}

std::string tiny_tokenizer_config_json() {
  const Node tree = object({{"add_bos_token", Node::boolean(true)},
                            {"add_eos_token", Node::boolean(false)},
                            {"bos_token", text(kSpecials[0])},
                            {"clean_up_tokenization_spaces", Node::boolean(false)},
                            {"eos_token", text(kSpecials[1])},
                            {"legacy", Node::boolean(true)},
                            {"model_max_length", Node::integer(512)},
                            {"pad_token", text(kSpecials[2])},
                            {"tokenizer_class", text("LlamaTokenizerFast")},
                            {"unk_token", Node()},
                            {"use_default_system_prompt", Node::boolean(false)}});
  return write_json(tree).value();
}

}  // namespace profline::tokenizer
