#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "statistics/summary.h"

/// What requests contain, and the answers that help to build them.
namespace profline::load {

struct Prompt {
  std::string text{};
  Node messages{};  ///< of a chat, if the prompt was given as one; else null
  std::uint32_t output_tokens = 0;
  bool is_exact = false;  ///< the server counted as many tokens as were asked for

  bool operator==(const Prompt&) const = default;
};

/// The lines of a file of prompts: an object with `prompt` or `messages`, and maybe
/// `output_tokens`; or just a string.
Result<std::vector<Prompt>> parse_prompts(std::string_view text, const std::string& source,
                                          std::uint32_t output_tokens);

/// How many tokens the server counts in a text; nothing if it does not say.
using CountTokens = std::function<std::optional<std::uint64_t>(const std::string& text)>;

/// Makes synthetic prompts: random words, the same for the same seed.
class PromptWriter {
 public:
  explicit PromptWriter(std::uint64_t seed) : random_(seed) {}

  /// Of this many tokens: exactly, if `count` can tell and some text has that many.
  Prompt write(std::uint32_t tokens, std::uint32_t output_tokens, const CountTokens& count);
  /// What a prompt of so many words turned out to have; the next ones are closer to their length.
  void learn(std::size_t words, std::uint64_t tokens);
  /// Words of the last prompt.
  std::size_t words() const { return words_; }

 private:
  std::string random_text(std::size_t words);
  std::size_t words_for(std::uint32_t tokens) const;

  statistics::RandomNumbers random_;
  double tokens_per_word_ = 1.3;  // of common English words, with the tokenizers of today
  std::size_t words_ = 0;
};

/// What servers accept in a request's body.
struct BodyRule {
  bool is_chat = false;
  std::string model{};
  bool ignore_eos = true;     ///< an extension of most engines: generate all tokens
  bool include_usage = true;  ///< `stream_options`, which old servers do not know
  Node extra = Node::map();
};

/// The body of a request, as JSON. `extra` wins over everything else; null removes a key.
Result<std::string> request_body(const Prompt& prompt, const BodyRule& rule);

/// The body of a request to /tokenize, in the forms of vLLM, SGLang and llama-server at once.
std::string tokenize_body(const std::string& text, const std::string& model);
/// What /tokenize answers: `count`, or the length of `tokens`.
std::optional<std::uint64_t> token_count(std::string_view answer);
/// The first model in an answer of /v1/models.
std::optional<std::string> first_model(std::string_view answer);

}  // namespace profline::load
