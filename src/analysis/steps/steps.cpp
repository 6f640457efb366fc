#include "analysis/steps/steps.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/timeline/device_metrics.h"
#include "base/strings.h"

namespace profline::steps {
namespace {

/// Reads a name from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  bool skip(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (status != std::errc()) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

StepKind kind_of(std::uint64_t prefills, std::uint64_t decodes) {
  if (prefills > 0 && decodes > 0) return StepKind::Mixed;
  return prefills > 0 ? StepKind::Prefill : StepKind::Decode;
}

std::optional<StepName> vllm_step(std::string_view range) {
  Scanner scanner(range);
  if (!scanner.skip("execute_context_")) return std::nullopt;
  const auto prefills = scanner.number();
  const bool first = prefills && scanner.skip("(");
  const auto prefill_tokens = first ? scanner.number() : std::nullopt;
  const bool second = prefill_tokens && scanner.skip(")_generation_");
  const auto decodes = second ? scanner.number() : std::nullopt;
  const bool third = decodes && scanner.skip("(");
  const auto decode_tokens = third ? scanner.number() : std::nullopt;
  if (!decode_tokens || !scanner.skip(")")) return std::nullopt;
  return StepName{"vLLM", kind_of(*prefills, *decodes), *prefills + *decodes,
                  *prefill_tokens + *decode_tokens};
}

std::optional<StepName> older_vllm_step(std::string_view range) {
  Scanner scanner(range);
  if (!scanner.skip("execute_new_")) return std::nullopt;
  const auto fresh = scanner.number();
  const bool more = fresh && scanner.skip("_cached_");
  const auto others = more ? scanner.number() : std::nullopt;
  if (!others || !scanner.is_at_end()) return std::nullopt;
  return StepName{"vLLM", kind_of(*fresh, *others), *fresh + *others, {}};
}

std::optional<StepName> tensorrt_step(std::string_view range) {
  Scanner scanner(range);
  if (!scanner.skip("[Executor] _forward_step ")) return std::nullopt;
  if (!scanner.number() || !scanner.skip(": ")) return std::nullopt;
  const auto prefills = scanner.number();
  const bool first = prefills && scanner.skip(" ctx reqs, ");
  const auto tokens = first ? scanner.number() : std::nullopt;
  const bool second = tokens && scanner.skip(" ctx tokens, ");
  const auto decodes = second ? scanner.number() : std::nullopt;
  if (!decodes || !scanner.skip(" gen reqs")) return std::nullopt;
  return StepName{"TensorRT-LLM", kind_of(*prefills, *decodes), *prefills + *decodes,
                  *tokens + *decodes};
}

std::optional<StepName> bracketed_step(std::string_view range) {
  constexpr std::string_view kStart = "step[";
  if (lower(range.substr(0, kStart.size())) != kStart || !range.ends_with(']')) return std::nullopt;
  range = range.substr(kStart.size(), range.size() - kStart.size() - 1);
  const auto words = split(range, ' ');
  const std::string kind = lower(words.front());
  StepName step{"the engine's ranges step[...]", StepKind::Other, {}, {}};
  if (kind == "decode") step.kind = StepKind::Decode;
  if (kind == "prefill" || kind == "extend") step.kind = StepKind::Prefill;
  if (kind == "mixed") step.kind = StepKind::Mixed;
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    Scanner scanner(word.substr(equals + 1));
    if (word.starts_with("bs=")) step.batch = scanner.number();
    if (word.starts_with("toks=")) step.tokens = scanner.number();
  }
  return step;
}

std::string text_of(StepKind kind) {
  switch (kind) {
    case StepKind::Prefill:
      return "prefill";
    case StepKind::Decode:
      return "decode";
    case StepKind::Mixed:
      return "mixed";
    case StepKind::Other:
      break;
  }
  return "step";
}

using Interval = std::pair<std::int64_t, std::int64_t>;

/// A step of the window, cut at its edges.
struct Step {
  StepName name;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Ranges that are steps, of the process with the most; steps within steps are left out.
std::vector<Step> steps_between(const Timeline& timeline, std::int64_t begin, std::int64_t end) {
  std::map<Names::Id, std::optional<StepName>> names;
  std::map<std::int64_t, std::vector<Step>> of_process;
  for (const Range& range : timeline.ranges) {
    if (range.end_ns <= begin || range.start_ns >= end) continue;
    const auto [known, is_new] = names.try_emplace(range.name);
    if (is_new) known->second = parse_step(timeline.names.text(range.name));
    if (!known->second) continue;
    const std::int64_t process =
        range.thread == kNoRow ? 0 : timeline.threads[range.thread].process;
    of_process[process].push_back(
        {*known->second, std::max(range.start_ns, begin), std::min(range.end_ns, end)});
  }
  std::vector<Step> most;
  for (auto& [process, steps] : of_process) {
    if (steps.size() > most.size()) most = std::move(steps);
  }
  std::vector<Step> outermost;
  for (Step& step : most) {  // in order of start, as ranges are
    if (!outermost.empty() && step.begin_ns < outermost.back().end_ns) {
      // Overlapping steps cannot both have the time: the later one has what is left of it.
      step.begin_ns = outermost.back().end_ns;
    }
    if (step.begin_ns < step.end_ns) outermost.push_back(std::move(step));
  }
  return outermost;
}

/// The time in which a device, or any of them, did something, without overlaps.
std::vector<Interval> busy_time(const Timeline& timeline,
                                std::optional<std::int32_t> device = std::nullopt) {
  std::vector<Interval> busy;
  for (const DeviceWork& work : timeline.work) {
    if (device && (work.stream == kNoRow || timeline.streams[work.stream].device != *device)) {
      continue;
    }
    if (!busy.empty() && work.start_ns <= busy.back().second) {
      busy.back().second = std::max(busy.back().second, work.end_ns);
    } else {
      busy.emplace_back(work.start_ns, work.end_ns);
    }
  }
  return busy;
}

std::int64_t busy_between(const std::vector<Interval>& busy, std::int64_t begin, std::int64_t end) {
  auto at = std::partition_point(busy.begin(), busy.end(),
                                 [&](const Interval& one) { return one.second <= begin; });
  std::int64_t sum = 0;
  for (; at != busy.end() && at->first < end; ++at) {
    sum += std::min(at->second, end) - std::max(at->first, begin);
  }
  return sum;
}

using Span = timeline::MetricIntegrals::Span;

/// Devices with work in the capture.
std::set<std::int32_t> devices_of(const Timeline& timeline) {
  std::set<std::int32_t> devices;
  for (const DeviceWork& work : timeline.work) {
    if (work.stream != kNoRow) devices.insert(timeline.streams[work.stream].device);
  }
  return devices;
}

/// Means over the devices with work, of what they sampled.
class Sampled {
 public:
  explicit Sampled(const Timeline& timeline)
      : integrals_(timeline), devices_(devices_of(timeline)) {}

  void add_to(ServerStepKind& row, const std::vector<Span>& spans) const {
    constexpr double kAll = 1;
    const auto add = [](std::optional<double>& mean, double value, double count) {
      mean = mean.value_or(0) + value / count;
    };
    std::vector<DeviceMetrics> found;
    for (const std::int32_t device : devices_) {
      if (auto metrics = integrals_.over(device, spans)) found.push_back(*metrics);
    }
    const auto count = static_cast<double>(found.size());
    for (const DeviceMetrics& metrics : found) {
      if (metrics.sm_active) add(row.sm_active, *metrics.sm_active, count);
      if (metrics.tensor_active) add(row.tensor_active, *metrics.tensor_active, count);
      if (!metrics.dram_read || !metrics.dram_write) continue;
      add(row.dram, std::min(*metrics.dram_read + *metrics.dram_write, kAll), count);
    }
  }

 private:
  timeline::MetricIntegrals integrals_;
  std::set<std::int32_t> devices_;
};

/// Steps of one kind, added up.
struct Sum {
  std::vector<double> lengths;
  std::vector<Span> spans;
  double total_ns = 0;
  double busy_ns = 0;
  double tokens = 0;
  bool has_tokens = true;

  void add(const Span& span, std::int64_t busy, const std::optional<std::uint64_t>& its_tokens) {
    const auto length = static_cast<double>(span.end_ns - span.begin_ns);
    lengths.push_back(length);
    spans.push_back(span);
    total_ns += length;
    busy_ns += static_cast<double>(busy);
    tokens += static_cast<double>(its_tokens.value_or(0));
    has_tokens = has_tokens && its_tokens;
  }
};

ServerStepKind row_of(std::string kind, std::optional<std::uint64_t> batch, Sum sum, double window,
                      bool has_device, const Sampled& sampled) {
  ServerStepKind row;
  row.kind = std::move(kind);
  row.batch = batch;
  row.count = sum.lengths.size();
  row.share = window > 0 ? sum.total_ns / window : 0;
  row.total_ns = sum.total_ns;
  const auto middle = sum.lengths.begin() + static_cast<std::ptrdiff_t>(sum.lengths.size() / 2);
  std::nth_element(sum.lengths.begin(), middle, sum.lengths.end());
  row.median_ns = *middle;
  const auto count = static_cast<double>(sum.lengths.size());
  if (sum.has_tokens) row.tokens = sum.tokens / count;
  if (has_device && sum.total_ns > 0) {
    row.busy_share = sum.busy_ns / sum.total_ns;
    row.host_gap_ns = (sum.total_ns - sum.busy_ns) / count;
  }
  sampled.add_to(row, sum.spans);
  return row;
}

}  // namespace

std::optional<StepName> parse_step(std::string_view range) {
  if (auto step = vllm_step(range)) return step;
  if (auto step = older_vllm_step(range)) return step;
  if (auto step = tensorrt_step(range)) return step;
  if (auto step = bracketed_step(range)) return step;
  if (range == "prefill") return StepName{"profline", StepKind::Prefill, {}, {}};
  if (range == "decode_step") return StepName{"profline", StepKind::Decode, {}, {}};
  return std::nullopt;
}

std::optional<double> busy_share(const Timeline& timeline, std::int64_t begin_ns,
                                 std::int64_t end_ns) {
  if (timeline.work.empty() || end_ns <= begin_ns) return std::nullopt;
  const std::int64_t busy = busy_between(busy_time(timeline), begin_ns, end_ns);
  return static_cast<double>(busy) / static_cast<double>(end_ns - begin_ns);
}

std::vector<ServerGpu> gpus_between(const Timeline& timeline, std::int64_t begin_ns,
                                    std::int64_t end_ns) {
  std::vector<ServerGpu> gpus;
  if (end_ns <= begin_ns) return gpus;
  const timeline::MetricIntegrals integrals(timeline);
  for (const std::int32_t device : devices_of(timeline)) {
    ServerGpu gpu;
    gpu.device = device;
    for (const Gpu& known : timeline.gpus) {
      if (known.device == device) gpu.name = known.name;
    }
    const std::int64_t busy = busy_between(busy_time(timeline, device), begin_ns, end_ns);
    gpu.busy_share = static_cast<double>(busy) / static_cast<double>(end_ns - begin_ns);
    gpu.metrics = integrals.over(device, {{begin_ns, end_ns}});
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

ServerSteps step_table(const Timeline& timeline, std::int64_t begin_ns, std::int64_t end_ns) {
  ServerSteps table;
  const std::vector<Step> found = steps_between(timeline, begin_ns, end_ns);
  if (found.empty()) {
    table.why_none = timeline.ranges.empty()
                         ? "the capture holds no ranges, so where steps begin and end is not known"
                         : "no range of the capture has the name of an engine's step";
    return table;
  }
  table.engine = found.front().name.engine;
  const std::vector<Interval> busy = busy_time(timeline);
  const bool has_device = !busy.empty();
  const Sampled sampled(timeline);
  std::map<std::tuple<StepKind, std::optional<std::uint64_t>>, Sum> sums;
  Sum idle;
  std::int64_t at = begin_ns;
  const auto add_idle = [&](std::int64_t until) {
    if (until <= at) return;
    idle.add({at, until}, busy_between(busy, at, until), {});
  };
  for (const Step& step : found) {
    add_idle(step.begin_ns);
    // Prefills differ in tokens rather than in their number of requests.
    const bool by_batch = step.name.kind == StepKind::Decode;
    sums[{step.name.kind, by_batch ? step.name.batch : std::nullopt}].add(
        {step.begin_ns, step.end_ns}, busy_between(busy, step.begin_ns, step.end_ns),
        step.name.tokens);
    at = step.end_ns;
  }
  add_idle(end_ns);
  const auto window = static_cast<double>(end_ns - begin_ns);
  for (auto& [key, sum] : sums) {
    table.kinds.push_back(row_of(text_of(std::get<0>(key)), std::get<1>(key), std::move(sum),
                                 window, has_device, sampled));
  }
  if (!idle.lengths.empty()) {
    table.kinds.push_back(row_of("idle", {}, std::move(idle), window, has_device, sampled));
    table.kinds.back().tokens.reset();
  }
  std::stable_sort(
      table.kinds.begin(), table.kinds.end(),
      [](const ServerStepKind& a, const ServerStepKind& b) { return a.total_ns > b.total_ns; });
  return table;
}

}  // namespace profline::steps
