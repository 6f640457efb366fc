#include "settings/nsight.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "schema/read.h"

namespace profline::settings {
namespace {

using Action = CaptureRangeEnd::Action;

struct ActionName {
  Action action;
  std::string_view name;
};
constexpr ActionName kActions[] = {{Action::None, "none"},
                                   {Action::Stop, "stop"},
                                   {Action::StopShutdown, "stop-shutdown"},
                                   {Action::Repeat, "repeat"},
                                   {Action::RepeatShutdown, "repeat-shutdown"}};

bool has_blank(const std::vector<std::string>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const std::string& item) { return trim(item).empty(); });
}

void check_gate(const Nsys& nsys, Checks& checks) {
  if (!nsys.nvtx_capture || nsys.nvtx_capture->items.empty() ||
      has_blank(nsys.nvtx_capture->items)) {
    checks.fail(nsys.nvtx_capture,
                "must name a range such as prefill when capture_range is nvtx; "
                "gating_nvtx=false captures everything");
  }
  if (nsys.trace && !nsys.traces("nvtx")) {
    checks.fail(nsys.trace, "must contain nvtx when capture_range is nvtx");
  }
}

}  // namespace

std::string CaptureRangeEnd::to_string() const {
  const auto* found = std::find_if(std::begin(kActions), std::end(kActions),
                                   [&](const ActionName& each) { return each.action == action; });
  std::string text(found->name);
  if (count) text += ':' + std::to_string(*count);
  return text;
}

std::optional<CaptureRangeEnd> parse_capture_range_end(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* found =
      std::find_if(std::begin(kActions), std::end(kActions),
                   [&](const ActionName& each) { return each.name == text.substr(0, colon); });
  if (found == std::end(kActions)) return std::nullopt;
  CaptureRangeEnd end{.action = found->action, .count = {}};
  if (colon == std::string_view::npos) {
    if (end.action == Action::RepeatShutdown) return std::nullopt;
    return end;
  }
  if (end.action != Action::Repeat && end.action != Action::RepeatShutdown) return std::nullopt;
  end.count = whole_number<std::uint32_t>(text.substr(colon + 1));
  if (end.count.value_or(0) == 0 || *end.count > kMostCaptures) return std::nullopt;
  return end;
}

bool Nsys::traces(std::string_view what) const {
  if (!trace) return true;
  return std::find(trace->items.begin(), trace->items.end(), what) != trace->items.end();
}

Checks validate(const Nsys& nsys) {
  Checks checks;
  if (nsys.enable == Enable::No) return checks;  // a disabled stage may be incomplete
  if (nsys.capture_range == CaptureRange::Nvtx && nsys.gating_nvtx) check_gate(nsys, checks);
  if (nsys.trace && nsys.trace->items.empty()) {
    checks.fail(nsys.trace, "must name something to record, such as cuda,nvtx,osrt, or be null");
  }
  if (nsys.nvtx_domain_include && nsys.nvtx_domain_exclude) {
    checks.fail(nsys.nvtx_domain_exclude,
                "must be null when nvtx_domain_include is given: nsys takes one of them");
  }
  return checks;
}

}  // namespace profline::settings

namespace profline::schema {

void Codec<std::optional<settings::CaptureRangeEnd>>::read(
    const Node& node, std::optional<settings::CaptureRangeEnd>& value, Reader& reader) {
  value.reset();
  if (node.is_null() || trim(node.as_string()).empty()) return;
  value = settings::parse_capture_range_end(node.as_string());
  if (!value) reader.mismatch(node);
}

}  // namespace profline::schema

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
