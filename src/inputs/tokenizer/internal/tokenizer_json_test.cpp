#include <gtest/gtest.h>

#include "formats/json.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer {
namespace {

/// The problem with the tiny tokenizer after `change`; without places, which would refer to a text
/// of two thousand lines.
template <typename Change>
std::string problem_after(const Change& change) {
  Node tree = parse_json(tiny_tokenizer_json(), "tiny").value();
  change(tree);
  const auto tokenizer = Tokenizer::parse(write_json(tree).value(), "t.json");
  if (tokenizer) return "no problem";
  EXPECT_EQ(tokenizer.error().kind(), ErrorKind::Parse);
  EXPECT_TRUE(tokenizer.error().position() && tokenizer.error().position()->line > 0);
  return tokenizer.error().message();
}

void set(Node& tree, std::string_view key, Node value) {
  tree.as_map().set(std::string(key), std::move(value));
}
Node& stage(Node& tree, std::size_t index) {
  return tree.find("pre_tokenizer")->find("pretokenizers")->as_list()[index];
}
Node parsed(std::string_view text) {
  return parse_json(text, "test").value();
}

TEST(TokenizerJson, TakesBothFormsOfMerges) {
  EXPECT_EQ(problem_after([](Node& tree) {
              Node::List lines = {Node::string("#version: 0.2")};
              for (const Node& pair : tree.find("model")->find("merges")->as_list()) {
                lines.push_back(Node::string(pair.as_list()[0].as_string() + " " +
                                             pair.as_list()[1].as_string()));
              }
              set(*tree.find("model"), "merges", Node::list(std::move(lines)));
            }),
            "no problem");
}

TEST(TokenizerJson, MayLackWhatHasADefault) {
  EXPECT_EQ(problem_after([](Node& tree) {
              for (const char* key : {"version", "truncation", "padding", "normalizer",
                                      "post_processor", "added_tokens"}) {
                tree.as_map().erase(key);
              }
              for (const char* key : {"dropout", "unk_token", "fuse_unk", "ignore_merges"}) {
                tree.find("model")->as_map().erase(key);
              }
            }),
            "no problem");
}

struct Case {
  std::string_view name;
  void (*change)(Node& tree);
  std::string_view message;
};

void expect_messages(std::span<const Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(problem_after(c.change), c.message);
  }
}

TEST(TokenizerJson, SaysWhichPartOfThePipelineItDoesNotKnow) {
  const Case cases[] = {
      {"version", [](Node& t) { set(t, "version", Node::string("2.0")); },
       "version: must be '1.0', not the string '2.0'"},
      {"normalizer", [](Node& t) { set(t, "normalizer", parsed(R"({"type": "NFC"})")); },
       "normalizer.type: must be 'Sequence', an empty one, not the string 'NFC'"},
      {"normalizers",
       [](Node& t) {
         set(t, "normalizer", parsed(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}]})"));
       },
       "normalizer.normalizers: must be empty: text is encoded as it is"},
      {"decoder", [](Node& t) { set(t, "decoder", parsed(R"({"type": "Metaspace"})")); },
       "decoder.type: must be 'ByteLevel', not the string 'Metaspace'"},
      {"no decoder", [](Node& t) { set(t, "decoder", Node()); },
       "decoder: must be a map with type ByteLevel, not null"},
      {"no pre_tokenizer", [](Node& t) { t.as_map().erase("pre_tokenizer"); },
       "must have a pre_tokenizer that ends in ByteLevel"},
      {"no ByteLevel",
       [](Node& t) {
         auto& stages = t.find("pre_tokenizer")->find("pretokenizers")->as_list();
         stages.pop_back();
       },
       "pre_tokenizer: must end in ByteLevel: only byte-level BPE is known"},
      {"ByteLevel not last", [](Node& t) { std::swap(stage(t, 2), stage(t, 3)); },
       "pre_tokenizer.pretokenizers.3: nothing may follow ByteLevel"},
      {"another kind of stage", [](Node& t) { set(stage(t, 0), "type", Node::string("Digits")); },
       "pre_tokenizer.pretokenizers.0.type: must be Split or ByteLevel, not the string 'Digits'"},
      {"behavior", [](Node& t) { set(stage(t, 0), "behavior", Node::string("Merged")); },
       "pre_tokenizer.pretokenizers.0.behavior: must be one of Removed, Isolated, "
       "MergedWithPrevious, MergedWithNext, Contiguous, not the string 'Merged'"},
      {"pattern", [](Node& t) { set(stage(t, 0), "pattern", parsed(R"({"Glob": "*"})")); },
       "pre_tokenizer.pretokenizers.0.pattern: must have a string 'Regex' or 'String'"},
      {"regex", [](Node& t) { set(stage(t, 0), "pattern", parsed(R"({"Regex": "(a"})")); },
       "pre_tokenizer.pretokenizers.0.pattern.Regex: pattern is not valid: missing closing "
       "parenthesis (after '(a')"},
      {"flag", [](Node& t) { set(stage(t, 0), "invert", Node::integer(1)); },
       "pre_tokenizer.pretokenizers.0.invert: must be a boolean, not the integer 1"},
  };
  expect_messages(cases);
}

TEST(TokenizerJson, SaysWhatIsWrongWithTheModel) {
  const Case cases[] = {
      {"type", [](Node& t) { set(*t.find("model"), "type", Node::string("Unigram")); },
       "model.type: must be 'BPE', not the string 'Unigram'"},
      {"dropout", [](Node& t) { set(*t.find("model"), "dropout", Node::real(0.1)); },
       "model.dropout: must be null, not the float 0.1"},
      {"byte_fallback",
       [](Node& t) { set(*t.find("model"), "byte_fallback", Node::boolean(true)); },
       "model.byte_fallback: must be false: all bytes are in the vocabulary, not the boolean true"},
      {"suffix", [](Node& t) { set(*t.find("model"), "end_of_word_suffix", Node::string("</w>")); },
       "model.end_of_word_suffix: must be null or empty, not the string '</w>'"},
      {"no vocabulary", [](Node& t) { t.find("model")->as_map().erase("vocab"); },
       "model: missing key 'vocab'"},
      {"id too large",
       [](Node& t) { set(*t.find("model")->find("vocab"), "new", Node::integer(1 << 20)); },
       "model.vocab: the id of 'new' must be an integer from 0 to 1048575, not the integer "
       "1048576"},
      {"id taken", [](Node& t) { set(*t.find("model")->find("vocab"), "new", Node::integer(3)); },
       "model.vocab: the id 3 of 'new' is already that of '!'"},
      {"no byte", [](Node& t) { t.find("model")->find("vocab")->as_map().erase("Ġ"); },
       "model.vocab: has no token 'Ġ' for the byte 32: only byte-level BPE is known"},
      {"merge of three", [](Node& t) { set(*t.find("model"), "merges", parsed(R"(["a b c"])")); },
       "model.merges: must be two tokens: [\"a\", \"b\"] or \"a b\", not the string 'a b c'"},
      {"merge of a number",
       [](Node& t) { set(*t.find("model"), "merges", parsed(R"([["a", 1]])")); },
       "model.merges: must be two tokens: [\"a\", \"b\"] or \"a b\", not a list"},
      {"merge of nothing known",
       [](Node& t) { set(*t.find("model"), "merges", parsed(R"([["a", "zz"]])")); },
       "model.merges: the token 'zz' of a merge is not in the vocabulary"},
      {"merge to nothing known",
       [](Node& t) { set(*t.find("model"), "merges", parsed(R"([["a", "a"]])")); },
       "model.merges: the token 'aa' of a merge is not in the vocabulary"},
      {"added token's id", [](Node& t) { set(t.find("added_tokens")->as_list()[3], "id", Node()); },
       "added_tokens.3.id: must be an integer from 0 to 1048575, not null"},
      {"added token has another id",
       [](Node& t) { set(t.find("added_tokens")->as_list()[0], "id", Node::integer(500)); },
       "added_tokens.0.id: '<｜begin▁of▁sentence｜>' has the id 0 already, not 500"},
      {"added token's id is taken",
       [](Node& t) { set(t.find("added_tokens")->as_list()[3], "id", Node::integer(3)); },
       "added_tokens.3.id: the id 3 is already that of '!'"},
      {"empty added token",
       [](Node& t) { set(t.find("added_tokens")->as_list()[3], "content", Node::string("")); },
       "added_tokens.3: content: must not be empty"},
  };
  expect_messages(cases);
}

TEST(TokenizerJson, TellsThePlace) {
  const auto broken = Tokenizer::parse("{\"version\": 1}", "dir/tokenizer.json");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().to_string(),
            "dir/tokenizer.json:1:13: version: must be '1.0', not the integer 1");
  const auto cut = Tokenizer::parse("[1]", "t.json");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().to_string(), "t.json:1:1: must be a map, not a list");
  const auto absent = Tokenizer::load("/nonexistent/tokenizer.json");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().to_string(), "cannot read /nonexistent/tokenizer.json: no such file");
}

}  // namespace
}  // namespace profline::tokenizer
