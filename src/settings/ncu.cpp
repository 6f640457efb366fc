#include "settings/ncu.h"

#include "base/strings.h"

namespace profline::settings {
namespace {

bool names_nothing(const std::optional<schema::CommaList>& list) {
  return !list || list->items.empty();
}

}  // namespace

bool NcuCli::names_what_to_collect() const {
  return set || !names_nothing(metrics) || !names_nothing(sections);
}

Checks validate(const Ncu& ncu) {
  Checks checks;
  if (ncu.enable == Enable::No) return checks;  // a disabled stage may be incomplete
  const NcuCli& cli = ncu.ncu_cli;
  if (cli.set && trim(*cli.set).empty()) checks.fail(cli.set, "must name a set, or be null");
  if (cli.kernel_name && trim(*cli.kernel_name).empty()) {
    checks.fail(cli.kernel_name, "must name a kernel, or be null");
  }
  if (cli.kill.value_or(false) && !cli.launch_count && !ncu.max_launches) {
    checks.fail(cli.kill, "needs launch_count or max_launches, after which the workload is ended");
  }
  return checks;
}

}  // namespace profline::settings
