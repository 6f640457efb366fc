#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "schema/read.h"

/// The content of `conf/kernels/classes.yaml`: the classes of kernels.
namespace profline::settings {

/// A rule applies if one of its texts or expressions is found; case is ignored.
struct KernelClassRule {
  std::string name;
  std::vector<std::string> contains;
  std::vector<std::string> matches;

  bool operator==(const KernelClassRule&) const = default;
};
constexpr auto fields(std::type_identity<KernelClassRule>) {
  return field_list(
      field("class", &KernelClassRule::name, "the class: gemm, attention, ...").required(),
      field("contains", &KernelClassRule::contains,
            "applies if the name contains one of these texts"),
      field("matches", &KernelClassRule::matches,
            "applies if one of these regular expressions (ECMAScript) is found in the name"));
}
inline Checks validate(const KernelClassRule& rule) {
  Checks checks;
  if (rule.contains.empty() && rule.matches.empty()) {
    checks.fail(rule.name, "has neither 'contains' nor 'matches': it could never apply");
  }
  return checks;
}

struct KernelClasses {
  std::vector<KernelClassRule> rules;

  bool operator==(const KernelClasses&) const = default;
};
constexpr auto fields(std::type_identity<KernelClasses>) {
  return field_list(field("rules", &KernelClasses::rules, "the first rule that applies decides"));
}

inline Result<KernelClasses> read_kernel_classes(const Node& table) {
  return schema::read<KernelClasses>(table);
}

}  // namespace profline::settings
