#include "workload/measure/metrics.h"

#include <vector>

namespace profline::workload {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerS = 1e9;

using Values = std::vector<double>;

/// Null when there is nothing to summarise.
Node summary_node(const Values& values) {
  const auto summary = statistics::summarise(values);
  return summary ? to_node(*summary) : Node();
}

template <typename Value>
Values each(std::span<const Sample> samples, const Value& value) {
  Values values;
  for (const Sample& sample : samples) {
    if (const std::optional<double> one = value(sample)) values.push_back(*one);
  }
  return values;
}

std::optional<double> ms(const std::optional<std::int64_t>& ns) {
  if (!ns) return std::nullopt;
  return static_cast<double>(*ns) / kNsPerMs;
}

std::optional<std::int64_t> vision_ns(const Sample& sample) {
  if (!sample.sam_ns && !sample.clip_ns && !sample.projector_ns) return std::nullopt;
  return sample.sam_ns.value_or(0) + sample.clip_ns.value_or(0) + sample.projector_ns.value_or(0);
}

/// Tokens per second of decode.
std::optional<double> rate(const Sample& sample) {
  if (sample.token_ns.empty() || sample.decode_ns.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(sample.token_ns.size()) * kNsPerS /
         static_cast<double>(*sample.decode_ns);
}

/// Parts that took no time in any sample are left out.
Node stage_times(std::span<const Sample> samples) {
  NodeMap stages;
  const auto add = [&](const char* name, const auto& ns) {
    const Values values = each(samples, [&](const Sample& sample) { return ms(ns(sample)); });
    for (const double value : values) {
      if (value > 0) {
        stages.set(name, summary_node(values));
        return;
      }
    }
  };
  using Ns = std::optional<std::int64_t>;
  add("prefill", [](const Sample& s) -> Ns { return s.prefill_ns; });
  add("decode", [](const Sample& s) { return s.decode_ns; });
  add("vision", vision_ns);
  add("sam", [](const Sample& s) { return s.sam_ns; });
  add("clip", [](const Sample& s) { return s.clip_ns; });
  add("projector", [](const Sample& s) { return s.projector_ns; });
  add("lm", [](const Sample& s) { return s.lm_ns; });
  add("preprocess", [](const Sample& s) -> Ns { return s.preprocess_ns; });
  return Node::map(std::move(stages));
}

Node aggregates(std::span<const Sample> samples) {
  NodeMap map;
  map.set("prefill_ms",
          summary_node(each(samples, [](const Sample& s) { return ms(s.prefill_ns); })));
  map.set("decode_ms",
          summary_node(each(samples, [](const Sample& s) { return ms(s.decode_ns); })));
  map.set("tokens", summary_node(each(samples, [](const Sample& s) -> std::optional<double> {
            return s.new_tokens;
          })));
  map.set("tokens_per_s", summary_node(each(samples, rate)));
  map.set("stage_ms", stage_times(samples));
  Values tokens;
  for (const Sample& sample : samples) {
    for (const std::int64_t ns : sample.token_ns) {
      tokens.push_back(static_cast<double>(ns) / kNsPerMs);
    }
  }
  map.set("token_ms", summary_node(tokens));
  return Node::map(std::move(map));
}

/// Sums over all samples, and the rates they make.
Node totals(std::span<const Sample> samples) {
  std::int64_t new_tokens = 0;
  std::int64_t steps = 0;
  std::int64_t decode_ns = 0;
  std::int64_t prefill_ns = 0;
  for (const Sample& sample : samples) {
    new_tokens += sample.new_tokens;
    steps += static_cast<std::int64_t>(sample.token_ns.size());
    decode_ns += sample.decode_ns.value_or(0);
    prefill_ns += sample.prefill_ns;
  }
  const auto per_second = [](std::int64_t count, std::int64_t ns) {
    if (ns <= 0) return Node();
    return Node::real(static_cast<double>(count) * kNsPerS / static_cast<double>(ns));
  };
  NodeMap map;
  map.set("images", Node::integer(static_cast<std::int64_t>(samples.size())));
  map.set("new_tokens", Node::integer(new_tokens));
  map.set("decode_steps", Node::integer(steps));
  map.set("prefill_ns", Node::integer(prefill_ns));
  map.set("decode_ns", Node::integer(decode_ns));
  map.set("tokens_per_s", steps == 0 ? Node() : per_second(steps, decode_ns));
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

Node metrics_document(std::span<const Sample> samples, const MetricsContext& context) {
  NodeMap map;
  map.set("schema", Node::string("profline.metrics/1"));
  map.set("device", Node::string(context.device));
  if (!samples.empty()) {
    map.set("dtype", Node::string(samples.front().dtype));
    map.set("threads", Node::integer(samples.front().threads));
    map.set("engine", Node::string(samples.front().engine));
  }
  map.set("aggregates", aggregates(samples));
  map.set("totals", totals(samples));
  map.set("mfu_model_level", Node());
  NodeMap mfu;
  for (const char* stage : {"prefill", "decode", "vision"}) mfu.set(stage, Node());
  map.set("mfu_per_stage", Node::map(std::move(mfu)));
  map.set("model_dims", dims_node(context.model_dims));
  map.set("peak_tflops", Node());
  map.set("ceilings", ceilings_node(context.ceilings));
  return Node::map(std::move(map));
}

}  // namespace profline::workload
