

#include <utility>

#include <fmt/core.h>

#include "analysis/static_model/decoder.h"
#include "analysis/static_model/internal/decoder_weights.h"

namespace profline::static_model::internal {

std::uint64_t ConfigKeys::size(std::string_view key, std::optional<std::uint64_t> otherwise,
                               std::uint64_t most) {
  const Node* value = present(key);
  if (value == nullptr) {
    const std::uint64_t fallback = otherwise.value_or(0);
    if (fallback == 0) fail(config_, "missing key '" + std::string(key) + "' (an integer > 0)");
    return fallback == 0 ? 1 : fallback;
  }
  const bool fits =
      value->is_int() && value->as_int() > 0 && static_cast<std::uint64_t>(value->as_int()) <= most;
  if (!fits) {
    fail(*value, std::string(key) + ": must be an integer from 1 to " + std::to_string(most));
    return 1;
  }
  return static_cast<std::uint64_t>(value->as_int());
}

std::uint64_t ConfigKeys::size(std::initializer_list<std::string_view> keys,
                               std::optional<std::uint64_t> otherwise, std::uint64_t most) {
  for (const std::string_view key : keys) {
    if (present(key) != nullptr) return size(key, otherwise, most);
  }
  return size(*keys.begin(), otherwise, most);
}

std::uint64_t ConfigKeys::maybe(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr || (value->is_int() && value->as_int() == 0)) return 0;
  return size(key);
}

bool ConfigKeys::flag(std::string_view key, bool otherwise) {
  const Node* value = present(key);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->as_bool();
  fail(*value, std::string(key) + ": must be true or false");
  return otherwise;
}

std::string ConfigKeys::text(std::string_view key) const {
  const Node* value = present(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

const Node* ConfigKeys::present(std::string_view key) const {
  const Node* value = config_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ConfigKeys::fail(const Node& at, std::string message) {
  problems_.push_back(Error(ErrorKind::Config, std::move(message), at.position()));
}

}  // namespace profline::static_model::internal

namespace profline::static_model {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kHalfBits = 16;
constexpr double kFloatBits = 32;

std::string text_at(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

bool is_set(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  return found != nullptr && found->is_bool() && found->as_bool();
}

std::optional<double> number_at(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  if (found == nullptr || !found->is_int()) return std::nullopt;
  return static_cast<double>(found->as_int());
}

/// Weights of `bits` bits with `shared_bits` more for each group of them; a group of -1 is a row.
double bytes_of(double bits, double shared_bits, std::optional<double> group) {
  const double scale = group && *group > 0 ? shared_bits / *group : 0;
  return (bits + scale) / kBitsPerByte;
}

void read_fp8(const Node& config, Quantization& read) {
  std::optional<double> block;
  const Node* sides = config.find("weight_block_size");
  if (sides != nullptr && sides->is_list() && sides->as_list().size() == 2 &&
      sides->as_list()[0].is_int() && sides->as_list()[1].is_int()) {
    block = static_cast<double>(sides->as_list()[0].as_int()) *
            static_cast<double>(sides->as_list()[1].as_int());
  }
  read.weights = QuantizedWeights{"fp8", bytes_of(kBitsPerByte, kFloatBits, block)};
  read.products = settings::Precision::Fp8;
}

void read_bitsandbytes(const Node& config, Quantization& read) {
  if (is_set(config, "load_in_8bit") || is_set(config, "_load_in_8bit")) {
    read.weights = QuantizedWeights{"int8", 1};
    read.products = settings::Precision::Int8;
    return;
  }
  // Blocks of 64 weights share an fp32 scale. Double quantisation stores it in 8 bits, with one
  // fp32 value per 256 blocks.
  constexpr double kBlock = 64;
  constexpr double kOuter = 256;
  const bool is_double = is_set(config, "bnb_4bit_use_double_quant");
  const double scale = is_double ? kBitsPerByte + kFloatBits / kOuter : kFloatBits;
  const std::string type = text_at(config, "bnb_4bit_quant_type");
  read.weights = QuantizedWeights{type.empty() ? "fp4" : type, bytes_of(4, scale, kBlock)};
}

/// GPTQ and AWQ: each group has an fp16 scale and a zero point as wide as a weight.
void read_grouped(const Node& config, Quantization& read) {
  const auto bits = number_at(config, "bits");
  if (!bits || *bits < 1 || *bits > kBitsPerByte) return;
  const auto group = number_at(config, "group_size");
  read.weights =
      QuantizedWeights{fmt::format("{}-bit", *bits), bytes_of(*bits, kHalfBits + *bits, group)};
  read.in_buffers = true;
}

void read_compressed_tensors(const Node& config, Quantization& read) {
  const Node* groups = config.find("config_groups");
  if (groups == nullptr || !groups->is_map() || groups->as_map().size() != 1) return;
  const Node& group = groups->as_map().begin()->value;
  const auto bits = number_at(group, "weights.num_bits");
  if (!bits || *bits < 1 || *bits > kBitsPerByte) return;
  const bool is_float = text_at(group, "weights.type") == "float";
  read.weights =
      QuantizedWeights{is_float ? fmt::format("fp{}", *bits) : fmt::format("int{}", *bits),
                       bytes_of(*bits, kHalfBits, number_at(group, "weights.group_size"))};
  const auto inputs = number_at(group, "input_activations.num_bits");
  if (*bits != kBitsPerByte || inputs != kBitsPerByte) return;
  read.products = is_float ? settings::Precision::Fp8 : settings::Precision::Int8;
}

/// `{"weights": ["float8_e4m3fn"]}`
std::optional<Quantization> read_found_weights(const Node& config) {
  const Node* kinds = config.find("weights");
  if (kinds == nullptr || !kinds->is_list() || kinds->as_list().size() != 1) return std::nullopt;
  const Node& kind = kinds->as_list().front();
  if (!kind.is_string()) return std::nullopt;
  Quantization read;
  read.method = kind.as_string();
  if (read.method.starts_with("float8")) {
    read.weights = QuantizedWeights{"fp8", 1};
    read.products = settings::Precision::Fp8;
  }
  if (read.method == "int8") read.weights = QuantizedWeights{"int8", 1};
  return read;
}

}  // namespace

std::optional<Quantization> read_quantization(const Node* config) {
  if (config == nullptr || !config->is_map()) return std::nullopt;
  Quantization read;
  read.method = text_at(*config, "quant_method");
  if (read.method.empty()) return read_found_weights(*config);
  if (read.method == "fp8" || read.method == "fbgemm_fp8") read_fp8(*config, read);
  if (read.method == "bitsandbytes") read_bitsandbytes(*config, read);
  if (read.method == "gptq" || read.method == "awq") read_grouped(*config, read);
  if (read.method == "compressed-tensors") read_compressed_tensors(*config, read);
  return read;
}

NumberFormat with_quantization(NumberFormat format, const Quantization& quantization,
                               std::vector<std::string>& notes) {
  if (!quantization.weights) {
    notes.push_back("the weights are quantised (" + quantization.method +
                    "), and how they are stored is not known: they are counted in " + format.name);
    return format;
  }
  format.quantized = quantization.weights;
  std::string note = fmt::format(
      "linear layers are quantised ({}): {} weights of {:.4g} bytes, scales included; embedding, "
      "head, norms, activations and KV cache are {}",
      quantization.method, quantization.weights->name, quantization.weights->bytes_per_weight,
      format.name);
  if (quantization.products) {
    format.precision = *quantization.products;
    format.cores = settings::Cores::Tensor;
    note += "; products at the peak rate of " + std::string(settings::to_text(format.precision));
  }
  notes.push_back(std::move(note));
  return format;
}

}  // namespace profline::static_model
