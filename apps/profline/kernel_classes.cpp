#include "kernel_classes.h"

#include "analysis/kernels/shipped_classes.h"
#include "base/files.h"
#include "formats/yaml.h"

namespace profline {

Result<kernels::Classifier> load_kernel_classes(const std::optional<std::filesystem::path>& own) {
  settings::KernelClasses rules;
  if (own) {
    const Node table = PL_TRY(parse_yaml(PL_TRY(read_file(*own)), own->string()));
    rules = PL_TRY(settings::read_kernel_classes(table));
  }
  for (auto& rule : PL_TRY(kernels::shipped_classes()).rules) {
    rules.rules.push_back(std::move(rule));
  }
  return kernels::Classifier::create(rules);
}

}  // namespace profline
