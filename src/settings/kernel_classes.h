#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"

/// What `conf/kernels/classes.yaml` says: which kernels are of which class.
namespace profline::settings {

/// A rule applies when one of its texts or expressions is found; case does not matter.
struct KernelClassRule {
  std::string name;
  std::vector<std::string> contains;
  std::vector<std::string> matches;

  bool operator==(const KernelClassRule&) const = default;
};
constexpr auto fields(std::type_identity<KernelClassRule>) {
  return field_list(
      field("class", &KernelClassRule::name, "the class: gemm, attention, ...").required(),
      field("contains", &KernelClassRule::contains, "texts, one of which the name has in it"),
      field("matches", &KernelClassRule::matches,
            "regular expressions (ECMAScript), one of which is found in the name"));
}
Checks validate(const KernelClassRule& rule);

struct KernelClasses {
  std::vector<KernelClassRule> rules;

  bool operator==(const KernelClasses&) const = default;
};
constexpr auto fields(std::type_identity<KernelClasses>) {
  return field_list(field("rules", &KernelClasses::rules, "the first one that applies decides"));
}

Result<KernelClasses> read_kernel_classes(const Node& table);

}  // namespace profline::settings
