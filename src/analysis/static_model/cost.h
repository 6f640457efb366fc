#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/hardware.h"

/// What a model costs by its shapes: closed forms, nothing is run. A multiply-add is two FLOPs;
/// matrix products, convolutions and attention count, and biases, norms, softmax, activations and
/// interpolation do not.
namespace profline::static_model {

/// A number of operations, parameters or bytes: exact, and where a config asks for more than
/// 64 bits hold, stuck at the largest one instead of wrapping around.
class Count {
 public:
  constexpr Count() = default;
  constexpr Count(std::uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// A size that was validated not to be negative.
  static constexpr Count of(std::int64_t value) {
    return Count(value < 0 ? 0 : static_cast<std::uint64_t>(value));
  }

  constexpr std::uint64_t value() const { return value_; }
  constexpr bool is_exact() const { return value_ != kStuck; }
  constexpr double as_double() const { return static_cast<double>(value_); }

  friend constexpr Count operator+(Count a, Count b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Count(kStuck) : Count(sum);
  }
  friend constexpr Count operator*(Count a, Count b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Count(kStuck) : Count(product);
  }
  Count& operator+=(Count other) { return *this = *this + other; }
  constexpr bool operator==(const Count&) const = default;
  constexpr auto operator<=>(const Count&) const = default;

 private:
  static constexpr std::uint64_t kStuck = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t value_ = 0;
};

enum class ModelPhase { Sam, Clip, Projector, Prefill, Decode };
std::string_view to_text(ModelPhase phase);
/// The one that to_text() calls so; nothing for another name.
std::optional<ModelPhase> phase_named(std::string_view name);
/// What requests and ranges may call the phase that does the work of a stage: of a model with
/// vision towers its language model's part of the prompt, else all of it.
std::span<const std::string_view> phase_names(ModelPhase phase);

/// What an element takes in memory, and which peak its products have.
struct NumberFormat {
  std::string name = "bf16";
  std::uint64_t bytes = 2;
  settings::Cores cores = settings::Cores::Tensor;
  settings::Precision precision = settings::Precision::Bf16;

  bool operator==(const NumberFormat&) const = default;
};
/// bf16, fp16, fp32 (on the ordinary cores), tf32 (fp32 in memory), fp8 and int8 (block scales not
/// counted). Nothing for another name.
std::optional<NumberFormat> number_format(std::string_view name);

/// All calls of one kind of operator in a phase.
struct OperatorCost {
  std::string name;
  Count parameters;
  Count flops;
  Count weight_bytes;      ///< of parameters that are read; experts that no token chose are not
  Count activation_bytes;  ///< what goes in and comes out, if all of it goes through memory
  Count kv_read_bytes;
  Count kv_write_bytes;

  bool operator==(const OperatorCost&) const = default;

  /// What cannot stay on the chip between operators.
  Count floor_bytes() const { return weight_bytes + kv_read_bytes + kv_write_bytes; }
  Count all_bytes() const { return floor_bytes() + activation_bytes; }
};

struct PhaseCost {
  ModelPhase phase = ModelPhase::Decode;
  std::vector<OperatorCost> operators;
  Count input_bytes;   ///< what the phase before left
  Count output_bytes;  ///< what the next one needs

  OperatorCost total() const;
};

/// A part of the model and what it holds, whether a run uses it or not.
struct ParameterGroup {
  std::string name;
  Count tensors;
  Count parameters;

  bool operator==(const ParameterGroup&) const = default;
};

/// One forward pass a phase; Decode is one step.
struct ModelCost {
  std::string model;  ///< `deepseek_ocr`, `llama`, ...
  NumberFormat format;
  std::vector<ParameterGroup> groups;
  std::vector<PhaseCost> phases;
  /// All decode steps of the request together.
  std::optional<PhaseCost> all_decode_steps;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  std::uint64_t batch = 1;
  std::uint64_t context = 0;  ///< of the Decode stage: keys, the current one included
  Count kv_bytes;             ///< the cache at the end of the prompt
  std::vector<std::string> notes;

  Count parameters() const;
  const PhaseCost* find(ModelPhase phase) const;
};

/// How long a phase takes at least.
struct Floor {
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  /// The larger of both, operator by operator. None: a ceiling is unknown.
  std::optional<double> floor_ns;
  /// The same if activations go through memory between operators.
  std::optional<double> unfused_ns;
};
Floor floor_of(const OperatorCost& cost, const NumberFormat& format,
               const settings::Ceilings& ceilings);
Floor floor_of(const PhaseCost& cost, const NumberFormat& format,
               const settings::Ceilings& ceilings);

/// One whole request: vision, prompt and all decode steps.
struct RequestTotal {
  Count flops;
  std::optional<double> floor_ns;
  std::optional<double> unfused_ns;
};
RequestTotal request_total(const ModelCost& cost, const settings::Ceilings& ceilings);

/// FLOPs a byte of what must be read or written; none without bytes.
std::optional<double> intensity(const OperatorCost& cost);

/// How well a measured time uses the device. None: a ceiling is unknown, or the time is not above
/// 0.
struct Utilisation {
  std::optional<double> mfu;        ///< of the peak for the format
  std::optional<double> bandwidth;  ///< of the memory bandwidth, by floor_bytes
  std::optional<double> of_floor;   ///< floor by measured time: 1 is all there is
};
Utilisation utilisation(const PhaseCost& cost, double measured_ns, const NumberFormat& format,
                        const settings::Ceilings& ceilings);

/// Which rows of attention scores count.
enum class AttentionCount {
  Causal,  ///< those that are used
  Square,  ///< all, as kernels without a causal form compute
};
/// For which positions of the prompt the head computes logits.
enum class HeadCount { Last, All };

/// What is asked of a decoder.
struct Request {
  std::uint64_t prompt_tokens = 1;  ///< image slots included
  std::uint64_t new_tokens = 1;  ///< the first comes from the prompt; each other is one decode step
  std::uint64_t batch = 1;
  /// Keys of the Decode phase, the current one included; 0: prompt and half of the new tokens.
  std::uint64_t context = 0;
  AttentionCount attention = AttentionCount::Causal;
  HeadCount head = HeadCount::Last;

  std::uint64_t decode_context() const;
};

/// Experts of one layer that `tokens` tokens choose together, if each chooses evenly: the
/// expectation.
double expected_experts(std::uint64_t experts, std::uint64_t chosen, std::uint64_t tokens);

}  // namespace profline::static_model
