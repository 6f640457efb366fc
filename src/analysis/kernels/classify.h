#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/canonical_name.h"
#include "base/result.h"
#include "settings/kernel_classes.h"

namespace profline::config {
class SearchPath;
}

namespace profline::kernels {

/// Assigns classes to kernels (`gemm`, `attention`) by the rules of `conf/kernels/classes.yaml`:
/// the first matching rule decides, `other` if none matches.
class Classifier {
 public:
  /// An Error names the rule whose regular expression is invalid.
  static Result<Classifier> create(const settings::KernelClasses& rules);
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;
  ~Classifier();

  const std::string& class_of(const CanonicalName& name) const;

 private:
  struct Rules;
  explicit Classifier(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

// The rules that every command uses, in order: those of a file named by an option, the user's own
// in kernels/classes.yaml, and the built-in ones.

/// The built-in rules, from `conf/kernels/classes.yaml`.
Result<settings::KernelClasses> shipped_classes();

/// The user's rules: from the named file, if any, then from each `kernels/classes.yaml` on the
/// search path, in order. If no folder of configs was chosen, also from `./conf` even if it has no
/// config. `./conf` is relative to `cwd`.
Result<settings::KernelClasses> own_classes(const config::SearchPath& search_path,
                                            const std::filesystem::path& cwd,
                                            const std::optional<std::string>& named = {});

/// A classifier with the user's rules followed by the shipped ones.
Result<Classifier> classifier_with(settings::KernelClasses own);
Result<Classifier> shipped_classifier();

}  // namespace profline::kernels
