#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/hardware.h"

/// The theoretical cost of a model: closed forms, nothing is run. A multiply-add counts as two
/// FLOPs. Matrix products, convolutions and attention count; biases, norms, softmax, activations
/// and interpolation do not.
namespace profline::static_model {

/// A number of operations, parameters or bytes: exact, and saturating instead of wrapping around if
/// a config requires more than 64 bits.
class Count {
 public:
  constexpr Count() = default;
  constexpr Count(std::uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// A size that has been validated as not negative.
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
/// The inverse of to_text(); nothing for an unknown name.
std::optional<ModelPhase> phase_named(std::string_view name);
/// The names that requests and ranges may use for the phase of a stage. For a model with vision
/// towers, prefill is its language model's part of the prompt, else all of it.
std::span<const std::string_view> phase_names(ModelPhase phase);

/// How the weights of linear layers are stored if they are quantised. The embedding, the head,
/// norms and biases keep the format of the activations.
struct QuantizedWeights {
  std::string name;             ///< `fp8`, `int8`, `nf4`, `4-bit`
  double bytes_per_weight = 1;  ///< scales and zero points included, as far as they are known

  bool operator==(const QuantizedWeights&) const = default;
};

/// The size of an element in memory, and the peak rate of its products.
struct NumberFormat {
  std::string name = "bf16";
  std::uint64_t bytes = 2;
  settings::Cores cores = settings::Cores::Tensor;
  settings::Precision precision = settings::Precision::Bf16;
  std::optional<QuantizedWeights> quantized{};  ///< absent: weights are stored in this format too

  bool operator==(const NumberFormat&) const = default;

  /// The size of `weights` elements of linear layers.
  Count linear_bytes(Count weights) const;
};
/// bf16, fp16, fp32 (on the vector cores), tf32 (fp32 in memory), fp8 and int8 (block scales not
/// counted). Nothing for another name.
std::optional<NumberFormat> number_format(std::string_view name);

/// All calls of one kind of operator in a phase.
struct OperatorCost {
  std::string name;
  Count parameters;
  Count flops;
  Count weight_bytes;      ///< of parameters that are read, without experts that no token chose
  Count activation_bytes;  ///< inputs and outputs, if all of them go through memory
  Count kv_read_bytes;
  Count kv_write_bytes;

  bool operator==(const OperatorCost&) const = default;

  /// Bytes that cannot stay on the chip between operators.
  Count floor_bytes() const { return weight_bytes + cache_bytes(); }
  Count cache_bytes() const { return kv_read_bytes + kv_write_bytes; }
  Count all_bytes() const { return floor_bytes() + activation_bytes; }
};

struct PhaseCost {
  ModelPhase phase = ModelPhase::Decode;
  std::vector<OperatorCost> operators;
  Count input_bytes;   ///< from the previous phase
  Count output_bytes;  ///< for the next phase

  OperatorCost total() const;
};

/// A part of the model and its parameters, whether or not a run uses it.
struct ParameterGroup {
  std::string name;
  Count tensors;     ///< of the checkpoint
  Count parameters;  ///< or elements of a buffer
  Count linear{};    ///< of these, weights that quantisation covers
  bool is_buffer = false;

  bool operator==(const ParameterGroup&) const = default;
};

/// One forward pass per phase; Decode is one step.
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

  Count parameters() const;       ///< buffers that are part of the checkpoint included
  Count parameter_bytes() const;  ///< as `format` stores them
  const PhaseCost* find(ModelPhase phase) const;
};

/// The minimum time of a phase.
struct Floor {
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  /// The larger of both, summed per operator. Absent: a ceiling is not known.
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

/// FLOPs per byte that must be read or written; nothing without bytes.
std::optional<double> intensity(const OperatorCost& cost);

/// How well a measured time uses the device. Absent: a ceiling is not known, or the time is not
/// positive.
struct Utilisation {
  std::optional<double> mfu;        ///< of the peak for the format
  std::optional<double> bandwidth;  ///< of the memory bandwidth, for floor_bytes
  std::optional<double> of_floor;   ///< floor divided by measured time; 1 is the limit
};
Utilisation utilisation(const PhaseCost& cost, double measured_ns, const NumberFormat& format,
                        const settings::Ceilings& ceilings);

/// Which attention scores count.
enum class AttentionCount {
  Causal,  ///< those that are used
  Square,  ///< all, as kernels without a causal form compute
};
/// The positions of the prompt for which the head computes logits.
enum class HeadCount { Last, All };

/// The tokens of one sequence.
struct SequenceLength {
  std::uint64_t prompt_tokens = 1;
  std::uint64_t new_tokens = 1;

  bool operator==(const SequenceLength&) const = default;
};

/// The work requested from a decoder.
struct Request {
  std::uint64_t prompt_tokens = 1;  ///< image slots included
  std::uint64_t new_tokens = 1;  ///< the first comes from the prompt; each other is one decode step
  std::uint64_t batch = 1;
  /// Keys of the Decode phase, the current one included; 0: prompt and half of the new tokens.
  std::uint64_t context = 0;
  /// Of the prompt, at its beginning: their keys and values are in the cache already, so prefill
  /// computes only the others. Fewer than the prompt has.
  std::uint64_t cached_tokens = 0;
  AttentionCount attention = AttentionCount::Causal;
  HeadCount head = HeadCount::Last;
  /// If the sequences of a batch differ: the length of each, with no padding, which need not be
  /// computed. There are `batch` of them, and the lengths above are those of the longest.
  std::vector<SequenceLength> sequences{};

  std::uint64_t decode_context() const;
};

/// The expected number of experts of one layer that `tokens` tokens choose together, if each
/// chooses uniformly.
double expected_experts(std::uint64_t experts, std::uint64_t chosen, std::uint64_t tokens);

}  // namespace profline::static_model
