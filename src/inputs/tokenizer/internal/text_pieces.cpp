#include "inputs/tokenizer/internal/text_pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace profline::tokenizer::internal {
namespace {

/// The last character of `text`, which is UTF-8.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    --begin;
    if ((static_cast<unsigned char>(text[begin]) & 0xC0U) != 0x80U) break;
  }
  return text.substr(begin);
}

std::string_view first_character(std::string_view text) {
  std::size_t end = std::min<std::size_t>(1, text.size());
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return text.substr(0, end);
}

Result<bool> is_one(const Regex& regex, std::string_view character, RegexScanner& scanner) {
  std::vector<Match> matches;
  if (!character.empty()) PL_TRY(scanner.find_all(regex, character, matches));
  return !matches.empty();
}

struct Part {
  Match range;
  bool matched;
};

void find_string(const std::string& pattern, std::string_view text, std::vector<Match>& matches) {
  if (pattern.empty()) return;
  for (std::size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, at + pattern.size())) {
    matches.push_back({at, at + pattern.size()});
  }
}

/// The whole text as matches and the parts between them.
std::vector<Part> parts_of(const std::vector<Match>& matches, std::size_t size, bool invert) {
  std::vector<Part> parts;
  parts.reserve(2 * matches.size() + 1);
  std::size_t done = 0;
  for (const Match& match : matches) {
    if (done != match.begin) parts.push_back({{done, match.begin}, invert});
    parts.push_back({match, !invert});
    done = match.end;
  }
  if (done != size) parts.push_back({{done, size}, invert});
  return parts;
}

std::vector<Match> contiguous(const std::vector<Part>& parts) {
  std::vector<Match> out;
  bool previous = false;
  for (const Part& part : parts) {
    if (part.matched == previous && !out.empty()) {
      out.back().end = part.range.end;
    } else {
      out.push_back(part.range);
    }
    previous = part.matched;
  }
  return out;
}

std::vector<Match> merged_with_previous(const std::vector<Part>& parts) {
  std::vector<Match> out;
  bool previous = false;
  for (const Part& part : parts) {
    if (part.matched && !previous && !out.empty()) {
      out.back().end = part.range.end;
    } else {
      out.push_back(part.range);
    }
    previous = part.matched;
  }
  return out;
}

std::vector<Match> merged_with_next(const std::vector<Part>& parts) {
  std::vector<Match> out;
  bool previous = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->matched && !previous && !out.empty()) {
      out.back().begin = part->range.begin;
    } else {
      out.push_back(part->range);
    }
    previous = part->matched;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Match> ranges_of(const std::vector<Part>& parts, Behavior behavior) {
  switch (behavior) {
    case Behavior::Contiguous:
      return contiguous(parts);
    case Behavior::MergedWithPrevious:
      return merged_with_previous(parts);
    case Behavior::MergedWithNext:
      return merged_with_next(parts);
    case Behavior::Isolated:
    case Behavior::Removed:
      break;
  }
  std::vector<Match> out;
  out.reserve(parts.size());
  for (const Part& part : parts) {
    if (behavior == Behavior::Isolated || !part.matched) out.push_back(part.range);
  }
  return out;
}

}  // namespace

Result<AddedTokens> AddedTokens::build(std::vector<AddedToken> tokens) {
  AddedTokens out(PL_TRY(Regex::compile(R"([\w])")), PL_TRY(Regex::compile(R"(\s)")));
  out.tokens_ = std::move(tokens);
  out.nodes_.resize(2);
  for (std::size_t i = 0; i < out.tokens_.size(); ++i) {
    const AddedToken& token = out.tokens_[i];
    out.insert(token.normalized ? 1 : 0, token.content, static_cast<std::int32_t>(i));
  }
  return out;
}

void AddedTokens::insert(std::size_t tree, std::string_view content, std::int32_t token) {
  std::size_t at = tree;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    std::int32_t child = nodes_[at].child;
    while (child >= 0 && nodes_[static_cast<std::size_t>(child)].byte != byte) {
      child = nodes_[static_cast<std::size_t>(child)].sibling;
    }
    if (child < 0) {
      child = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back({.byte = byte, .child = -1, .sibling = nodes_[at].child, .token = -1});
      nodes_[at].child = child;
    }
    at = static_cast<std::size_t>(child);
  }
  nodes_[at].token = token;
}

const AddedToken* AddedTokens::longest_at(std::string_view text, std::size_t tree) const {
  const AddedToken* longest = nullptr;
  const TreeNode* node = &nodes_[tree];
  for (const char c : text) {
    std::int32_t child = node->child;
    while (child >= 0 &&
           nodes_[static_cast<std::size_t>(child)].byte != static_cast<unsigned char>(c)) {
      child = nodes_[static_cast<std::size_t>(child)].sibling;
    }
    if (child < 0) break;
    node = &nodes_[static_cast<std::size_t>(child)];
    if (node->token >= 0) longest = &tokens_[static_cast<std::size_t>(node->token)];
  }
  return longest;
}

Result<bool> AddedTokens::breaks_word(std::string_view text, const Match& match,
                                      RegexScanner& scanner) const {
  const bool before = PL_TRY(is_one(word_, last_character(text.substr(0, match.begin)), scanner));
  const bool after = PL_TRY(is_one(word_, first_character(text.substr(match.end)), scanner));
  return before || after;
}

Result<void> AddedTokens::take_space(std::string_view text, const AddedToken& token,
                                     std::size_t done, Match& match, RegexScanner& scanner) const {
  while (token.lstrip && match.begin > done) {
    const std::string_view before = last_character(text.substr(0, match.begin));
    if (!PL_TRY(is_one(space_, before, scanner))) break;
    match.begin -= before.size();
  }
  while (token.rstrip && match.end < text.size()) {
    const std::string_view next = first_character(text.substr(match.end));
    if (!PL_TRY(is_one(space_, next, scanner))) break;
    match.end += next.size();
  }
  return {};
}

Result<std::vector<Segment>> AddedTokens::cut(std::string_view text, bool normalized,
                                              RegexScanner& scanner) const {
  const std::size_t tree = normalized ? 1 : 0;
  std::vector<Segment> segments;
  std::size_t done = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const AddedToken* token = longest_at(text.substr(at), tree);
    if (token == nullptr) {
      ++at;
      continue;
    }
    Match match{at, at + token->content.size()};
    at = match.end;
    if (token->single_word && PL_TRY(breaks_word(text, match, scanner))) continue;
    PL_TRY(take_space(text, *token, done, match, scanner));
    if (done < match.begin) segments.push_back({text.substr(done, match.begin - done), nullptr});
    segments.push_back({text.substr(match.begin, match.end - match.begin), token});
    done = at = match.end;
  }
  if (done < text.size()) segments.push_back({text.substr(done), nullptr});
  return segments;
}

Result<void> split_text(const Split& split, std::string_view text, RegexScanner& scanner,
                        std::vector<std::string_view>& pieces) {
  std::vector<Match> matches;
  if (const Regex* regex = std::get_if<Regex>(&split.pattern)) {
    PL_TRY(scanner.find_all(*regex, text, matches));
  } else {
    find_string(std::get<std::string>(split.pattern), text, matches);
  }
  for (const Match& range :
       ranges_of(parts_of(matches, text.size(), split.invert), split.behavior)) {
    if (range.begin != range.end)
      pieces.push_back(text.substr(range.begin, range.end - range.begin));
  }
  return {};
}

}  // namespace profline::tokenizer::internal
