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

/// Names classes of kernels (`gemm`, `attention`) by the rules of `conf/kernels/classes.yaml`: the
/// first rule that applies decides, `other` when none does.
class Classifier {
 public:
  /// An Error names the rule whose expression is none.
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

// Which rules name the classes of kernels, for every command: those of a file that an option
// names, then the user's own of kernels/classes.yaml, then those that are part of the program.

/// The rules of `conf/kernels/classes.yaml` as this program was built with them.
Result<settings::KernelClasses> shipped_classes();

/// The user's rules: of the file that is named, if one is, then of each `kernels/classes.yaml` on
/// the search path in its order. Where no folder of configs was chosen, also of `./conf` without a
/// config in it. `cwd` is where `./conf` is.
Result<settings::KernelClasses> own_classes(const config::SearchPath& search_path,
                                            const std::filesystem::path& cwd,
                                            const std::optional<std::string>& named = {});

/// A classifier by the user's rules and then the shipped ones.
Result<Classifier> classifier_with(settings::KernelClasses own);
Result<Classifier> shipped_classifier();

}  // namespace profline::kernels
