#include "inputs/tokenizer/internal/split.h"

#include <algorithm>

namespace profline::tokenizer::internal {
namespace {

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

/// The whole text as matches and what lies between them.
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
