#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/server.h"
#include "records/timeline.h"

/// The steps of an inference engine in a capture, from the ranges in which it names them.
namespace profline::steps {

enum class StepKind : std::uint8_t { Prefill, Decode, Mixed, Other };

/// What the name of a range says about a step.
struct StepName {
  std::string_view engine;
  StepKind kind = StepKind::Other;
  std::optional<std::uint64_t> batch{};   ///< requests in it
  std::optional<std::uint64_t> tokens{};  ///< that it computes

  bool operator==(const StepName&) const = default;
};

/// Nothing if it is not the name of a step. Known are
///
///   execute_context_1(512)_generation_7(7)    vLLM: requests and tokens of both kinds
///   execute_new_1_cached_7                    vLLM up to 0.11: new requests and others
///   [Executor] _forward_step 12: 1 ctx reqs, 512 ctx tokens, 7 gen reqs     TensorRT-LLM
///   step[decode bs=8 toks=8]                  SGLang's form, which others may use
///   prefill, decode_step                      what profline's Python module opens
std::optional<StepName> parse_step(std::string_view range);

/// The table of steps between two times of a capture; with the idle time it covers all of it.
/// `why_none` says why there is no table. Steps are those of the process that names the most: the
/// others do the same work on other GPUs.
ServerSteps step_table(const Timeline& timeline, std::int64_t begin_ns, std::int64_t end_ns);

/// Each device with work in the capture, and what it did between two times.
std::vector<ServerGpu> gpus_between(const Timeline& timeline, std::int64_t begin_ns,
                                    std::int64_t end_ns);

/// Share of that time in which a device did something; nothing if the capture has no device work.
std::optional<double> busy_share(const Timeline& timeline, std::int64_t begin_ns,
                                 std::int64_t end_ns);

}  // namespace profline::steps
