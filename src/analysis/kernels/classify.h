#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/canonical_name.h"
#include "base/result.h"
#include "settings/kernel_classes.h"

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

}  // namespace profline::kernels
