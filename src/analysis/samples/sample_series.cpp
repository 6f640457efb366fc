#include "analysis/samples/sample_series.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "statistics/summary.h"

namespace profline::samples {
namespace {

using statistics::Better;
using Value = std::optional<double>;

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerSecond = 1e9;

struct Figure {
  std::string_view name;
  std::string_view unit;
  Better better;
  bool is_stage;
  Value (*of)(const Sample&);
};

Value ms(std::optional<std::int64_t> ns) {
  if (!ns || *ns <= 0) return std::nullopt;
  return static_cast<double>(*ns) / kNsPerMs;
}

double steps_ns(const Sample& sample) {
  return std::accumulate(sample.token_ns.begin(), sample.token_ns.end(), 0.0,
                         [](double sum, std::int64_t ns) { return sum + static_cast<double>(ns); });
}

Value token_ms(const Sample& sample) {
  const double ns = steps_ns(sample);
  if (ns <= 0) return std::nullopt;
  return ns / static_cast<double>(sample.token_ns.size()) / kNsPerMs;
}

Value tokens_per_s(const Sample& sample) {
  const double ns = steps_ns(sample);
  if (ns <= 0) return std::nullopt;
  return static_cast<double>(sample.token_ns.size()) * kNsPerSecond / ns;
}

Value request_ms(const Sample& sample) {
  return ms(sample.preprocess_ns + sample.prefill_ns + sample.decode_ns.value_or(0));
}

constexpr std::array kFigures = {
    Figure{"request_ms", "ms", Better::Lower, false, request_ms},
    Figure{"prefill_ms", "ms", Better::Lower, false,
           [](const Sample& sample) { return ms(sample.prefill_ns); }},
    Figure{"decode_ms", "ms", Better::Lower, false,
           [](const Sample& sample) { return ms(sample.decode_ns); }},
    Figure{"token_ms", "ms", Better::Lower, false, token_ms},
    Figure{"tokens_per_s", "tokens/s", Better::Higher, false, tokens_per_s},
    Figure{"preprocess", "ms", Better::Lower, true,
           [](const Sample& sample) { return ms(sample.preprocess_ns); }},
    Figure{"sam", "ms", Better::Lower, true,
           [](const Sample& sample) { return ms(sample.sam_ns); }},
    Figure{"clip", "ms", Better::Lower, true,
           [](const Sample& sample) { return ms(sample.clip_ns); }},
    Figure{"projector", "ms", Better::Lower, true,
           [](const Sample& sample) { return ms(sample.projector_ns); }},
    Figure{"lm", "ms", Better::Lower, true, [](const Sample& sample) { return ms(sample.lm_ns); }},
};

/// An image may be in the list several times in one epoch.
std::vector<std::string> keys_of(std::span<const Sample> samples) {
  std::map<std::string, int> seen;
  std::vector<std::string> keys;
  keys.reserve(samples.size());
  for (const Sample& sample : samples) {
    std::string key = sample.image + '\n' + std::to_string(sample.epoch);
    const int before = seen[key]++;
    keys.push_back(key + '\n' + std::to_string(before));
  }
  return keys;
}

}  // namespace

std::vector<Series> series_of(std::span<const Sample> samples) {
  const std::vector<std::string> keys = keys_of(samples);
  std::vector<Series> all;
  for (const Figure& figure : kFigures) {
    Series series{
        std::string(figure.name), std::string(figure.unit), figure.better, figure.is_stage, {}, {}};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Value value = figure.of(samples[i]);
      if (!value) continue;
      series.units.push_back(*value);
      series.keys.push_back(keys[i]);
    }
    if (!series.units.empty()) all.push_back(std::move(series));
  }
  return all;
}

bool is_figure(std::string_view name) {
  return std::any_of(kFigures.begin(), kFigures.end(),
                     [&](const Figure& figure) { return figure.name == name; });
}

double value_of(const Series& series) {
  std::vector<double> sorted = series.units;
  std::sort(sorted.begin(), sorted.end());
  return statistics::quantile(sorted, 0.5);
}

std::optional<double> wall_ms(const Node& process) {
  const Node* wall = process.is_map() ? process.find("wall_ns") : nullptr;
  return wall != nullptr && wall->is_int() ? ms(wall->as_int()) : std::nullopt;
}

double disturbed_share(std::span<const Sample> samples) {
  constexpr double kUsual = 5;
  double lost = 0;
  double all = 0;
  for (const Sample& sample : samples) {
    if (sample.token_ns.empty()) continue;
    std::vector<double> sorted(sample.token_ns.begin(), sample.token_ns.end());
    std::sort(sorted.begin(), sorted.end());
    const double median = statistics::quantile(sorted, 0.5);
    for (const double ns : sorted) {
      all += ns;
      if (ns > kUsual * median) lost += ns - median;
    }
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace profline::samples
