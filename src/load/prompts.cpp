#include "load/prompts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"
#include "formats/json.h"
#include "schema/read.h"
#include "settings/load.h"

namespace profline::load {
namespace {

constexpr std::array<std::string_view, 96> kWords = {
    "time",    "year",        "people",   "way",       "day",    "man",     "thing",   "woman",
    "life",    "child",       "world",    "school",    "state",  "family",  "student", "group",
    "country", "problem",     "hand",     "part",      "place",  "case",    "week",    "company",
    "system",  "program",     "question", "work",      "number", "night",   "point",   "home",
    "water",   "room",        "mother",   "area",      "money",  "story",   "fact",    "month",
    "lot",     "right",       "study",    "book",      "eye",    "job",     "word",    "business",
    "issue",   "side",        "kind",     "head",      "house",  "service", "friend",  "father",
    "power",   "hour",        "game",     "line",      "end",    "member",  "law",     "car",
    "city",    "community",   "name",     "president", "team",   "minute",  "idea",    "kid",
    "body",    "information", "back",     "parent",    "face",   "others",  "level",   "office",
    "door",    "health",      "person",   "art",       "war",    "history", "party",   "result",
    "change",  "morning",     "reason",   "research",  "girl",   "guy",     "moment",  "air"};

/// Texts that most tokenizers count as one token each, to reach a length exactly.
constexpr std::array<std::string_view, 6> kFillers = {" a", " the", "a", ".", "\n", " x y"};
constexpr int kMostAttempts = 12;

struct PromptLine {
  std::optional<std::string> prompt;
  Node messages;
  std::optional<std::uint32_t> output_tokens;
};
constexpr auto fields(std::type_identity<PromptLine>) {
  return field_list(field("prompt", &PromptLine::prompt, "the text"),
                    field("messages", &PromptLine::messages, "a chat"),
                    field("output_tokens", &PromptLine::output_tokens, "tokens to generate")
                        .range(1, settings::kMostTokens));
}

Result<Prompt> prompt_of(const Node& row, std::uint32_t output_tokens) {
  if (row.is_string()) return Prompt{row.as_string(), {}, output_tokens};
  PromptLine line = PL_TRY(schema::read<PromptLine>(row));
  if (line.prompt.has_value() == line.messages.is_list()) {
    return Error(ErrorKind::Parse, "must have a text 'prompt' or a list 'messages'");
  }
  return Prompt{line.prompt.value_or(""), line.prompt ? Node() : std::move(line.messages),
                line.output_tokens.value_or(output_tokens)};
}

void without_last_words(std::string& text, std::size_t words) {
  while (words-- > 0 && !text.empty()) {
    const std::size_t blank = text.rfind(' ');
    text.resize(blank == std::string::npos ? 0 : blank);
  }
}

/// Adds what is missing; nothing if no filler gives exactly `tokens`.
std::optional<std::string> filled(const std::string& text, std::uint64_t has, std::uint64_t tokens,
                                  const CountTokens& count) {
  for (const std::string_view filler : kFillers) {
    std::string longer = text;
    for (std::uint64_t i = has; i < tokens; ++i) longer += filler;
    if (count(longer) == tokens) return longer;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Prompt>> parse_prompts(std::string_view text, const std::string& source,
                                          std::uint32_t output_tokens) {
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const auto in_line = [&](Error error) {
      return std::move(error).during(source + ":" + std::to_string(number));
    };
    auto row = parse_json(line, "");
    if (!row) return in_line(std::move(row).error());
    auto prompt = prompt_of(*row, output_tokens);
    if (!prompt) return in_line(std::move(prompt).error());
    prompts.push_back(*std::move(prompt));
  }
  if (prompts.empty()) return Error(ErrorKind::Parse, source + ": has no prompts");
  return prompts;
}

std::string PromptWriter::random_text(std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    if (i > 0) text += ' ';
    text += kWords[random_.below(kWords.size())];
  }
  words_ = words;
  return text;
}

std::size_t PromptWriter::words_for(std::uint32_t tokens) const {
  return std::max<std::size_t>(1, static_cast<std::size_t>(tokens / tokens_per_word_));
}

void PromptWriter::learn(std::size_t words, std::uint64_t tokens) {
  if (words == 0 || tokens == 0) return;
  tokens_per_word_ = static_cast<double>(tokens) / static_cast<double>(words);
}

Prompt PromptWriter::write(std::uint32_t tokens, std::uint32_t output_tokens,
                           const CountTokens& count) {
  // One word too few, so that the rest can be filled.
  const std::size_t words = words_for(tokens);
  std::string text = random_text(count && words > 1 ? words - 1 : words);
  Prompt prompt{{}, {}, output_tokens, false};
  std::optional<std::uint64_t> has = count ? count(text) : std::nullopt;
  if (has) learn(words_, *has);
  for (int attempt = 0; has && *has != tokens && attempt < kMostAttempts; ++attempt) {
    if (*has < tokens) {
      if (auto longer = filled(text, *has, tokens, count)) {
        text = *std::move(longer);
        has = tokens;
        break;
      }
      text += ' ';
      text += kWords[random_.below(kWords.size())];
    } else {
      const auto excess = static_cast<double>(*has - tokens);
      without_last_words(text, static_cast<std::size_t>(std::ceil(excess / tokens_per_word_)));
      if (text.empty()) text = "a";
    }
    has = count(text);
  }
  prompt.is_exact = has == tokens;
  prompt.text = std::move(text);
  return prompt;
}

Result<std::string> request_body(const Prompt& prompt, const BodyRule& rule) {
  NodeMap body;
  if (!rule.model.empty()) body.set("model", Node::string(rule.model));
  if (rule.is_chat) {
    Node messages = prompt.messages;
    if (!messages.is_list()) {
      NodeMap message;
      message.set("role", Node::string("user"));
      message.set("content", Node::string(prompt.text));
      messages = Node::list({Node::map(std::move(message))});
    }
    body.set("messages", std::move(messages));
  } else {
    if (prompt.messages.is_list()) {
      return Error(ErrorKind::Config,
                   "a prompt has messages, which only /v1/chat/completions takes");
    }
    body.set("prompt", Node::string(prompt.text));
  }
  body.set("max_tokens", Node::integer(prompt.output_tokens));
  body.set("stream", Node::boolean(true));
  if (rule.include_usage) {
    NodeMap options;
    options.set("include_usage", Node::boolean(true));
    body.set("stream_options", Node::map(std::move(options)));
  }
  if (rule.ignore_eos) body.set("ignore_eos", Node::boolean(true));
  for (const NodeMap::Entry& entry : rule.extra.as_map()) {
    if (entry.value.is_null()) body.erase(entry.key);
    if (!entry.value.is_null()) body.set(entry.key, entry.value);
  }
  return write_json(Node::map(std::move(body)), {.indent = 0, .scalar_keys_as_text = true});
}

std::string tokenize_body(const std::string& text, const std::string& model) {
  NodeMap body;
  if (!model.empty()) body.set("model", Node::string(model));
  body.set("prompt", Node::string(text));
  body.set("content", Node::string(text));
  body.set("add_special", Node::boolean(true));
  return write_json(Node::map(std::move(body)), {.indent = 0}).value();
}

std::optional<std::uint64_t> token_count(std::string_view answer) {
  const auto tree = parse_json(answer, "");
  if (!tree) return std::nullopt;
  if (const Node* count = tree->find("count"); count != nullptr && count->is_int()) {
    if (count->as_int() < 0) return std::nullopt;
    return static_cast<std::uint64_t>(count->as_int());
  }
  const Node* const tokens = tree->find("tokens");
  if (tokens == nullptr || !tokens->is_list()) return std::nullopt;
  return tokens->as_list().size();
}

std::optional<std::string> first_model(std::string_view answer) {
  const auto tree = parse_json(answer, "");
  if (!tree) return std::nullopt;
  const Node* const id = tree->find_path("data.0.id");
  if (id == nullptr || !id->is_string() || id->as_string().empty()) return std::nullopt;
  return id->as_string();
}

}  // namespace profline::load
