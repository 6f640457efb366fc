#include "analysis/kernels/shipped_classes.h"

#include <algorithm>

#include "base/assert.h"
#include "formats/yaml.h"
#include "shipped_config/shipped_config.h"

namespace profline::kernels {

Result<settings::KernelClasses> shipped_classes() {
  const auto files = shipped_config_files();
  const auto shipped = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& file) {
    return file.path == "kernels/classes.yaml";
  });
  PL_ASSERT(shipped != files.end(), "the table of kernel classes is shipped");
  const Node table = PL_TRY(parse_yaml(shipped->text, "<profline>/kernels/classes.yaml"));
  return settings::read_kernel_classes(table);
}

Result<Classifier> shipped_classifier() {
  return Classifier::create(PL_TRY(shipped_classes()));
}

}  // namespace profline::kernels
