#include "inputs/dataset/internal/page_text.h"

#include <string_view>

namespace profline::dataset::internal {
namespace {

constexpr std::string_view kAdjectives[] = {"shared", "local",  "early",  "second",   "narrow",
                                            "steady", "large",  "quiet",  "written",  "common",
                                            "annual", "public", "simple", "measured", "northern",
                                            "recent", "final",  "open",   "small",    "old"};
constexpr std::string_view kNouns[] = {
    "cache",   "record", "harbour", "letter",  "budget",  "survey", "river",  "kernel", "archive",
    "market",  "bridge", "model",   "library", "queue",   "garden", "report", "sample", "engine",
    "council", "window", "meter",   "ledger",  "station", "index",  "signal", "forest"};
constexpr std::string_view kVerbs[] = {"follows",  "describes", "explains", "limits",
                                       "supports", "replaces",  "exceeds",  "confirms",
                                       "contains", "reaches",   "reduces",  "precedes"};
constexpr std::string_view kOpenings[] = {
    "In most years",   "After the first week", "As the table shows",
    "By contrast",     "Before the winter",    "On the other hand",
    "For this reason", "At the same time",     "According to the survey"};
constexpr std::string_view kEndings[] = {"within a few days",    "without further cost",
                                         "in nearly every case", "at about the same rate",
                                         "for the whole period", "under load",
                                         "as expected",          "more often than not"};
constexpr std::string_view kParticiples[] = {"Measuring", "Reading", "Planning", "Comparing",
                                             "Restoring", "Mapping", "Notes on", "A History of"};
constexpr std::string_view kFirstNames[] = {"Ada", "Emil", "Ines", "Jonas", "Mara", "Otto", "Ruth"};
constexpr std::string_view kLastNames[] = {"Berg",      "Castell", "Holm",
                                           "Lindqvist", "Moreno",  "Reuter"};

std::string capitalised(std::string_view text) {
  std::string result(text);
  if (result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

/// `the narrow harbour`, `the ledger`.
std::string noun_phrase(Random& random) {
  std::string phrase = "the ";
  if (random.below(3) > 0) phrase.append(random.pick(kAdjectives)).append(" ");
  return phrase.append(random.pick(kNouns));
}

}  // namespace

std::string title(Random& random) {
  std::string text(random.pick(kParticiples));
  text.append(" the ").append(capitalised(random.pick(kAdjectives)));
  return text.append(" ").append(capitalised(random.pick(kNouns)));
}

std::string term(Random& random) {
  std::string text = capitalised(random.pick(kAdjectives));
  return text.append(" ").append(random.pick(kNouns));
}

std::string sentence(Random& random) {
  std::string text;
  if (random.below(3) == 0) {
    text.append(random.pick(kOpenings)).append(", ").append(noun_phrase(random));
  } else {
    text = capitalised(noun_phrase(random));
  }
  text.append(" ").append(random.pick(kVerbs)).append(" ").append(noun_phrase(random));
  switch (random.below(4)) {
    case 0:
      text.append(" ").append(random.pick(kEndings));
      break;
    case 1:
      text.append(", and ").append(noun_phrase(random)).append(" ");
      text.append(random.pick(kVerbs)).append(" ").append(noun_phrase(random));
      break;
    case 2:
      text.append(" by ").append(std::to_string(random.between(2, 98))).append(" percent");
      break;
    default:
      break;
  }
  return text.append(".");
}

std::string paragraph(Random& random, std::size_t sentences) {
  std::string text;
  for (std::size_t i = 0; i < sentences; ++i) {
    if (i > 0) text += ' ';
    text += sentence(random);
  }
  return text;
}

std::string figure_number(Random& random) {
  const auto digits = [&](std::int64_t least, std::int64_t most) {
    return std::to_string(random.between(least, most));
  };
  switch (random.below(3)) {
    case 0: {
      std::string text = digits(1, 98);
      return text.append(".").append(digits(0, 9));
    }
    case 1: {
      std::string text = "0.";
      return text.append(digits(10, 99));
    }
    default: {
      std::string text = digits(1, 9);
      return text.append(",").append(digits(100, 999));
    }
  }
}

std::string author(Random& random) {
  std::string text(random.pick(kFirstNames));
  return text.append(" ").append(random.pick(kLastNames));
}

}  // namespace profline::dataset::internal
