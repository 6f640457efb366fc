#include "analysis/kernels/classify.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/defaults/search_path.h"
#include "formats/yaml.h"
#include "shipped_config/shipped_config.h"

namespace profline::kernels {
namespace {

// std::regex recurses for each character it examines; of a longer name only the beginning is used.
constexpr std::size_t kLongestSearched = 4096;

std::string searched_part(std::string_view text) {
  return lower(text.substr(0, kLongestSearched));
}

Result<std::regex> compiled(const std::string& expression) {
  try {
    return std::regex(expression, std::regex::ECMAScript | std::regex::icase);
  } catch (const std::regex_error& failure) {
    return Error(ErrorKind::Config,
                 "'" + expression + "' is not a regular expression: " + failure.what());
  }
}

constexpr const char* kName = "kernels/classes";

void append(settings::KernelClasses more, settings::KernelClasses& classes) {
  std::move(more.rules.begin(), more.rules.end(), std::back_inserter(classes.rules));
}

Result<void> add_file_of(const config::ConfigSource& source, settings::KernelClasses& classes) {
  const auto file = PL_TRY(source.load(kName));
  if (file) append(PL_TRY(settings::read_kernel_classes(file->tree)), classes);
  return {};
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
    for (const std::string& text : given.contains) rule.contains.push_back(searched_part(text));
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
  const std::string lower = searched_part(name.full);
  const std::string original = name.full.substr(0, kLongestSearched);
  const auto found =
      std::find_if(rules_->rules.begin(), rules_->rules.end(),
                   [&](const Rules::Rule& rule) { return rule.applies(lower, original); });
  return found == rules_->rules.end() ? rules_->other : found->name;
}

Result<settings::KernelClasses> shipped_classes() {
  const auto files = shipped_config_files();
  const auto shipped = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& file) {
    return file.path == std::string(kName) + ".yaml";
  });
  PL_ASSERT(shipped != files.end(), "the table of kernel classes is shipped");
  const Node table = PL_TRY(parse_yaml(shipped->text, "<profline>/kernels/classes.yaml"));
  return settings::read_kernel_classes(table);
}

Result<settings::KernelClasses> own_classes(const config::SearchPath& search_path,
                                            const std::filesystem::path& cwd,
                                            const std::optional<std::string>& named) {
  settings::KernelClasses classes;
  if (named) {
    const Node table = PL_TRY(parse_yaml(PL_TRY(read_file(*named)), *named));
    classes = PL_TRY(settings::read_kernel_classes(table));
  }
  bool has_main = false;
  for (const config::SearchPath::Entry& entry : search_path.entries()) {
    has_main |= entry.source && entry.provider == "main";
  }
  if (!has_main) PL_TRY(add_file_of(config::FolderSource("conf", cwd), classes));
  for (const config::SearchPath::Entry& entry : search_path.entries()) {
    const bool is_users = entry.source && entry.source->scheme() == "file";
    if (is_users) PL_TRY(add_file_of(*entry.source, classes));
  }
  return classes;
}

Result<Classifier> classifier_with(settings::KernelClasses own) {
  append(PL_TRY(shipped_classes()), own);
  return Classifier::create(own);
}

Result<Classifier> shipped_classifier() {
  return classifier_with({});
}

}  // namespace profline::kernels
