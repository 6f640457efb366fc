#include "workloads/server/engine_times.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/strings.h"

namespace profline::server {
namespace {

constexpr double kNsPerSecond = 1e9;

std::optional<double> number_of(std::string_view text) {
  const std::string copy(trim(text));
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  const bool is_number = end != copy.c_str() && *end == '\0' && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

void add(std::optional<double>& sum, double value) {
  sum = sum.value_or(0) + value;
}

/// vLLM's and others' `request_queue_time_seconds_sum`, SGLang's `sglang:queue_time_seconds_sum`.
bool is_named(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  const std::string_view start = name.substr(0, name.size() - ending.size());
  return start.ends_with("request_") || start == "sglang:";
}

std::optional<double> mean(const std::optional<double>& before, const std::optional<double>& after,
                           std::optional<double> count) {
  if (!after || !count || *count <= 0) return std::nullopt;
  const double spent = *after - before.value_or(0);
  return spent < 0 ? std::nullopt : std::optional(spent / *count * kNsPerSecond);
}

std::optional<double> difference(const std::optional<double>& before,
                                 const std::optional<double>& after) {
  return after ? std::optional(*after - before.value_or(0)) : std::nullopt;
}

}  // namespace

// vllm:request_queue_time_seconds_sum{engine="0",model_name="m"} 0.25
EngineTimes parse_engine_times(std::string_view page) {
  EngineTimes times;
  // Every line of this format has an end; the last one of a page that was cut off has part of its
  // number.
  page = page.substr(0, page.rfind('\n') + 1);
  for (const std::string_view line : lines(page)) {
    const std::size_t blank = line.rfind(' ');
    if (line.starts_with('#') || blank == std::string_view::npos) continue;
    const auto value = number_of(line.substr(blank));
    if (!value) continue;
    const std::string_view name = line.substr(0, std::min(line.find('{'), line.find(' ')));
    // Several engines of one server are added up.
    if (is_named(name, "queue_time_seconds_sum")) add(times.queue_s, *value);
    if (is_named(name, "queue_time_seconds_count")) add(times.queued, *value);
    if (name.ends_with("request_prefill_time_seconds_sum")) add(times.prefill_s, *value);
    if (name.ends_with("request_prefill_time_seconds_count")) add(times.prefills, *value);
    if (name == "llamacpp:prompt_seconds_total") add(times.prefill_s, *value);
  }
  return times;
}

MeanTimes mean_times(const EngineTimes& before, const EngineTimes& after, std::uint64_t requests) {
  const auto queued = difference(before.queued, after.queued);
  auto prefills = difference(before.prefills, after.prefills);
  if (!prefills && after.prefill_s) prefills = static_cast<double>(requests);
  return {mean(before.queue_s, after.queue_s, queued),
          mean(before.prefill_s, after.prefill_s, prefills)};
}

}  // namespace profline::server
