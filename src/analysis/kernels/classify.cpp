#include "analysis/kernels/classify.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

namespace profline::kernels {
namespace {

// std::regex recurses for each character it looks at; a name that long is told by its beginning.
constexpr std::size_t kLongestSearched = 4096;

std::string lower_case(std::string_view text) {
  std::string lower(text.substr(0, kLongestSearched));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

Result<std::regex> compiled(const std::string& expression) {
  try {
    return std::regex(expression, std::regex::ECMAScript | std::regex::icase);
  } catch (const std::regex_error& failure) {
    return Error(ErrorKind::Config,
                 "'" + expression + "' is no regular expression: " + failure.what());
  }
}

}  // namespace

struct Classifier::Rules {
  struct Rule {
    std::string name;
    std::vector<std::string> contains;  // in lower case
    std::vector<std::regex> matches;

    bool applies(const std::string& lower, const std::string& original) const {
      const auto has = [&](const std::string& text) { return lower.find(text) != lower.npos; };
      if (std::any_of(contains.begin(), contains.end(), has)) return true;
      return std::any_of(matches.begin(), matches.end(), [&](const std::regex& expression) {
        return std::regex_search(original, expression);
      });
    }
  };
  std::vector<Rule> rules;
  std::string other = "other";
};

Classifier::Classifier(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;
Classifier::~Classifier() = default;

Result<Classifier> Classifier::create(const settings::KernelClasses& table) {
  auto rules = std::make_unique<Rules>();
  for (const settings::KernelClassRule& given : table.rules) {
    Rules::Rule rule;
    rule.name = given.name;
    for (const std::string& text : given.contains) rule.contains.push_back(lower_case(text));
    for (const std::string& expression : given.matches) {
      auto regex = compiled(expression);
      if (!regex) return std::move(regex).error().during("kernel class '" + given.name + "'");
      rule.matches.push_back(*std::move(regex));
    }
    rules->rules.push_back(std::move(rule));
  }
  return Classifier(std::move(rules));
}

const std::string& Classifier::class_of(const CanonicalName& name) const {
  const std::string lower = lower_case(name.full);
  const std::string original = name.full.substr(0, kLongestSearched);
  const auto found =
      std::find_if(rules_->rules.begin(), rules_->rules.end(),
                   [&](const Rules::Rule& rule) { return rule.applies(lower, original); });
  return found == rules_->rules.end() ? rules_->other : found->name;
}

}  // namespace profline::kernels
