#include "kernel_classes.h"

#include <algorithm>

#include "base/assert.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "shipped_config/shipped_config.h"

namespace profline {

Result<kernels::Classifier> load_kernel_classes(const std::optional<std::filesystem::path>& own) {
  settings::KernelClasses rules;
  if (own) {
    const Node table = PL_TRY(parse_yaml(PL_TRY(read_file(*own)), own->string()));
    rules = PL_TRY(settings::read_kernel_classes(table));
  }
  const auto files = shipped_config_files();
  const auto shipped = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& file) {
    return file.path == "kernels/classes.yaml";
  });
  PL_ASSERT(shipped != files.end(), "the table of kernel classes is shipped");
  const Node table = PL_TRY(parse_yaml(shipped->text, "<profline>/kernels/classes.yaml"));
  for (auto& rule : PL_TRY(settings::read_kernel_classes(table)).rules) {
    rules.rules.push_back(std::move(rule));
  }
  return kernels::Classifier::create(rules);
}

}  // namespace profline
