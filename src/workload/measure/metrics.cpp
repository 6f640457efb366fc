#include "workload/measure/metrics.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "workload/model/layers.h"

namespace profline::workload {
namespace {

using Seconds = std::chrono::duration<double>;

/// The fastest of the runs that fit into `budget`, at least two: the first pays for first touches.
template <typename Work>
double best_seconds(const Clock& clock, Seconds budget, const Work& work) {
  const Clock::Steady begin = clock.now();
  work();
  double best = Seconds(clock.now() - begin).count();
  do {
    const Clock::Steady start = clock.now();
    work();
    best = std::min(best, Seconds(clock.now() - start).count());
  } while (clock.now() - begin < budget);
  return best;
}

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerS = 1e9;

using Values = std::vector<double>;

/// Null if there is nothing to summarise.
Node summary_node(const Values& values) {
  const auto summary = statistics::summarise(values);
  return summary ? to_node(*summary) : Node();
}

template <typename Value>
Values each(std::span<const Request> requests, const Value& value) {
  Values values;
  for (const Request& request : requests) {
    if (const std::optional<double> one = value(request)) values.push_back(*one);
  }
  return values;
}

/// All phases of these names together; nothing if the request has none of them.
std::optional<double> phase_ms(const Request& request,
                               std::initializer_list<std::string_view> names) {
  std::optional<double> sum;
  for (const Phase& phase : request.phases) {
    const bool is_meant =
        std::find(names.begin(), names.end(), last_name(phase.path)) != names.end();
    if (is_meant) sum = sum.value_or(0) + static_cast<double>(phase.ns) / kNsPerMs;
  }
  return sum;
}

std::optional<double> vision_ms(const Request& request) {
  return phase_ms(request, {scope::kSam, scope::kClip, scope::kProjector});
}

std::size_t steps_of(const Request& request) {
  const Phase* const decode = request.find_phase(scope::kDecode);
  return decode != nullptr && decode->steps_ns ? decode->steps_ns->size() : 0;
}

bool is_batch(const Request& request) {
  return request.images().size() > 1;
}

/// New tokens of all sequences.
std::size_t tokens_of(const Request& request) {
  if (!is_batch(request)) return request.new_tokens.value_or(0);
  const std::vector<std::uint64_t> each = request.counts(kNewTokensEachAttribute);
  return std::accumulate(each.begin(), each.end(), std::size_t{0});
}

/// Those that steps made: all but the first of each sequence.
std::size_t decoded_tokens(const Request& request) {
  return is_batch(request) ? tokens_of(request) - request.images().size() : steps_of(request);
}

std::int64_t time_ns(const Request& request, std::string_view path) {
  const Phase* const phase = request.find_phase(path);
  return phase == nullptr ? 0 : phase->ns;
}

/// Tokens per second of decode.
std::optional<double> rate(const Request& request) {
  const std::int64_t ns = time_ns(request, scope::kDecode);
  if (steps_of(request) == 0 || ns <= 0) return std::nullopt;
  return static_cast<double>(decoded_tokens(request)) * kNsPerS / static_cast<double>(ns);
}

/// Phases that took no time in any request are left out.
Node phase_times(std::span<const Request> requests) {
  NodeMap phases;
  const auto add = [&](std::string_view name, const auto& ms) {
    const Values values = each(requests, ms);
    const bool took_time =
        std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
    if (took_time && phases.find(name) == nullptr)
      phases.set(std::string(name), summary_node(values));
  };
  const auto add_phase = [&](std::string_view name) {
    add(name, [&](const Request& request) { return phase_ms(request, {name}); });
  };
  add_phase(scope::kPrefill);
  add_phase(scope::kDecode);
  add("vision", vision_ms);
  for (const Request& request : requests) {
    for (const Phase& phase : request.phases) {
      if (phase.path.find('/') != std::string::npos) add_phase(last_name(phase.path));
    }
  }
  add_phase("preprocess");
  return Node::map(std::move(phases));
}

/// The steps of batches, or those of single sequences, each of which made a token.
Values steps_ms(std::span<const Request> requests, bool of_batches) {
  Values steps;
  for (const Request& request : requests) {
    if (steps_of(request) == 0 || is_batch(request) != of_batches) continue;
    for (const std::int64_t ns : *request.find_phase(scope::kDecode)->steps_ns) {
      steps.push_back(static_cast<double>(ns) / kNsPerMs);
    }
  }
  return steps;
}

Node aggregates(std::span<const Request> requests) {
  NodeMap map;
  const auto of_phase = [&](const char* name) {
    return summary_node(
        each(requests, [&](const Request& request) { return phase_ms(request, {name}); }));
  };
  map.set("prefill_ms", of_phase(scope::kPrefill));
  map.set("decode_ms", of_phase(scope::kDecode));
  map.set("tokens", summary_node(each(requests, [](const Request& request) {
            return std::optional(static_cast<double>(tokens_of(request)));
          })));
  map.set("tokens_per_s", summary_node(each(requests, rate)));
  map.set("stage_ms", phase_times(requests));
  map.set("token_ms", summary_node(steps_ms(requests, false)));
  const Values batched = steps_ms(requests, true);
  if (!batched.empty()) map.set("step_ms", summary_node(batched));
  return Node::map(std::move(map));
}

/// Sums over all requests, and the rates that follow from them.
Node totals(std::span<const Request> requests) {
  std::int64_t images = 0;
  std::int64_t new_tokens = 0;
  std::int64_t decoded = 0;
  std::int64_t steps = 0;
  std::int64_t decode_ns = 0;
  std::int64_t prefill_ns = 0;
  for (const Request& request : requests) {
    images += static_cast<std::int64_t>(is_batch(request) ? request.images().size() : 1);
    new_tokens += static_cast<std::int64_t>(tokens_of(request));
    decoded += static_cast<std::int64_t>(decoded_tokens(request));
    steps += static_cast<std::int64_t>(steps_of(request));
    decode_ns += time_ns(request, scope::kDecode);
    prefill_ns += time_ns(request, scope::kPrefill);
  }
  const auto per_second = [](std::int64_t count, std::int64_t ns) {
    if (ns <= 0) return Node();
    return Node::real(static_cast<double>(count) * kNsPerS / static_cast<double>(ns));
  };
  NodeMap map;
  map.set("images", Node::integer(images));
  map.set("new_tokens", Node::integer(new_tokens));
  map.set("decode_steps", Node::integer(steps));
  map.set("prefill_ns", Node::integer(prefill_ns));
  map.set("decode_ns", Node::integer(decode_ns));
  map.set("tokens_per_s", steps == 0 ? Node() : per_second(decoded, decode_ns));
  map.set("tokens_per_s_with_prefill",
          new_tokens == 0 ? Node() : per_second(new_tokens, prefill_ns + decode_ns));
  return Node::map(std::move(map));
}

Node dims_node(const std::optional<ModelDims>& dims) {
  if (!dims) return {};
  NodeMap map;
  map.set("d_model", Node::integer(dims->d_model));
  map.set("d_ff", Node::integer(dims->d_ff));
  map.set("n_layers", Node::integer(dims->n_layers));
  return Node::map(std::move(map));
}

Node ceilings_node(const std::optional<CpuCeilings>& ceilings) {
  if (!ceilings) return {};
  NodeMap map;
  map.set("source", Node::string("measured on this CPU"));
  map.set("copy_bytes_per_s", Node::real(ceilings->copy_bytes_per_s));
  map.set("fp32_gemm_flops_per_s", Node::real(ceilings->gemm_flops_per_s));
  map.set("threads", Node::integer(ceilings->threads));
  return Node::map(std::move(map));
}

}  // namespace

CpuCeilings measure_cpu_ceilings(const Clock& clock) {
  const at::NoGradGuard no_grad;
  constexpr Seconds kEach{0.15};
  CpuCeilings ceilings;
  ceilings.threads = at::get_num_threads();
  {
    constexpr std::int64_t kFloats = std::int64_t{16} << 20U;  // 64 MiB each
    const at::Tensor from = at::ones({kFloats});
    at::Tensor to = at::zeros({kFloats});
    const double seconds = best_seconds(clock, kEach, [&] { to.copy_(from); });
    ceilings.copy_bytes_per_s = 2.0 * sizeof(float) * static_cast<double>(kFloats) / seconds;
  }
  constexpr std::int64_t kSide = 640;
  const at::Tensor a = at::ones({kSide, kSide});
  const at::Tensor b = at::ones({kSide, kSide});
  at::Tensor c = at::empty({kSide, kSide});
  const double seconds = best_seconds(clock, kEach, [&] { at::mm_out(c, a, b); });
  ceilings.gemm_flops_per_s = 2.0 * kSide * kSide * kSide / seconds;
  return ceilings;
}

Node to_node(const statistics::Summary& summary) {
  NodeMap map;
  map.set("n", Node::integer(static_cast<std::int64_t>(summary.n)));
  map.set("mean", Node::real(summary.mean));
  map.set("std", Node::real(summary.std));
  map.set("median", Node::real(summary.median));
  map.set("p90", Node::real(summary.p90));
  map.set("p99", Node::real(summary.p99));
  map.set("min", Node::real(summary.min));
  map.set("max", Node::real(summary.max));
  map.set("median_ci95",
          Node::list({Node::real(summary.median_ci95.low), Node::real(summary.median_ci95.high)}));
  return Node::map(std::move(map));
}

Node metrics_document(std::span<const Request> requests, const MetricsContext& context) {
  NodeMap map;
  map.set("schema", Node::string("profline.metrics/1"));
  map.set("device", Node::string(context.device));
  if (!requests.empty()) {
    for (const char* fact : {"dtype", "threads", "engine"}) {
      const auto known = requests.front().attributes.find(fact);
      if (known != requests.front().attributes.end()) map.set(fact, known->second);
    }
  }
  map.set("aggregates", aggregates(requests));
  map.set("totals", totals(requests));
  map.set("mfu_model_level", Node());
  NodeMap mfu;
  for (const char* phase : {"prefill", "decode", "vision"}) mfu.set(phase, Node());
  map.set("mfu_per_stage", Node::map(std::move(mfu)));
  map.set("model_dims", dims_node(context.model_dims));
  map.set("peak_tflops", Node());
  map.set("ceilings", ceilings_node(context.ceilings));
  return Node::map(std::move(map));
}

}  // namespace profline::workload
