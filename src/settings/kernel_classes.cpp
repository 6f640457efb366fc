#include "settings/kernel_classes.h"

#include "schema/read.h"

namespace profline::settings {

Checks validate(const KernelClassRule& rule) {
  Checks checks;
  if (rule.contains.empty() && rule.matches.empty()) {
    checks.fail(rule.name, "has neither 'contains' nor 'matches': it could never apply");
  }
  return checks;
}

Result<KernelClasses> read_kernel_classes(const Node& table) {
  return schema::read<KernelClasses>(table);
}

}  // namespace profline::settings
