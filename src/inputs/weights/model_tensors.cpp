#include "inputs/weights/model_tensors.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/figures.h"
#include "base/strings.h"
#include "inputs/weights/safetensors.h"
#include "schema/docs.h"

namespace profline::weights {
namespace {

/// Adds tensors with a common prefix.
class Specs {
 public:
  void add(std::string name, Shape shape, Role role) {
    all_.push_back({std::move(name), std::move(shape), role});
  }
  void add_linear(const std::string& name, Shape shape) {
    add(name + ".weight", std::move(shape), Role::Linear);
  }
  void add_linear_with_bias(const std::string& name, Shape shape) {
    const std::int64_t rows = shape.front();
    add_linear(name, std::move(shape));
    add(name + ".bias", {rows}, Role::Bias);
  }
  void add_layer_norm(const std::string& name, std::int64_t width) {
    add(name + ".weight", {width}, Role::Norm);
    add(name + ".bias", {width}, Role::Bias);
  }
  /// `down(silu(gate(x)) * up(x))`.
  void add_gated_network(const std::string& name, std::int64_t width, std::int64_t inner) {
    add_linear(name + ".gate_proj", {inner, width});
    add_linear(name + ".up_proj", {inner, width});
    add_linear(name + ".down_proj", {width, inner});
  }
  std::vector<TensorSpec> take() && { return std::move(all_); }

 private:
  std::vector<TensorSpec> all_;
};

void add_sam(const DeepseekOcrConfig& config, Specs& specs) {
  const deepseek_ocr::Sam& sam = config.sam();
  const std::string prefix = "model.sam_model.";
  const std::int64_t grid = config.sam_grid();
  specs.add_linear_with_bias(prefix + "patch_embed.proj",
                             {sam.width, 3, sam.patch_size, sam.patch_size});
  specs.add(prefix + "pos_embed", {1, grid, grid, sam.width}, Role::Position);
  for (std::int64_t layer = 0; layer < sam.layers; ++layer) {
    const std::string block = prefix + "blocks." + std::to_string(layer) + ".";
    const std::int64_t reach = 2 * (sam.is_global(layer) ? grid : sam.window_size) - 1;
    specs.add_layer_norm(block + "norm1", sam.width);
    specs.add(block + "attn.rel_pos_h", {reach, sam.head_dim()}, Role::Position);
    specs.add(block + "attn.rel_pos_w", {reach, sam.head_dim()}, Role::Position);
    specs.add_linear_with_bias(block + "attn.qkv", {3 * sam.width, sam.width});
    specs.add_linear_with_bias(block + "attn.proj", {sam.width, sam.width});
    specs.add_layer_norm(block + "norm2", sam.width);
    specs.add_linear_with_bias(block + "mlp.lin1", {sam.mlp_ratio * sam.width, sam.width});
    specs.add_linear_with_bias(block + "mlp.lin2", {sam.width, sam.mlp_ratio * sam.width});
  }
  const std::int64_t neck = sam.neck_channels;
  specs.add_linear(prefix + "neck.0", {neck, sam.width, 1, 1});
  specs.add_layer_norm(prefix + "neck.1", neck);
  specs.add_linear(prefix + "neck.2", {neck, neck, 3, 3});
  specs.add_layer_norm(prefix + "neck.3", neck);
  std::int64_t channels = neck;
  for (std::size_t i = 0; i < sam.downsample_channels.size(); ++i) {
    specs.add_linear(prefix + "net_" + std::to_string(i + 2),
                     {sam.downsample_channels[i], channels, 3, 3});
    channels = sam.downsample_channels[i];
  }
}

void add_clip(const deepseek_ocr::Clip& clip, Specs& specs) {
  const std::string prefix = "model.vision_model.";
  specs.add(prefix + "embeddings.class_embedding", {clip.width}, Role::Embedding);
  specs.add_linear(prefix + "embeddings.patch_embedding",
                   {clip.width, 3, clip.patch_size, clip.patch_size});
  specs.add(prefix + "embeddings.position_embedding.weight",
            {1 + clip.grid() * clip.grid(), clip.width}, Role::Position);
  specs.add_layer_norm(prefix + "pre_layrnorm", clip.width);  // the release's spelling
  for (std::int64_t layer = 0; layer < clip.layers; ++layer) {
    const std::string block = prefix + "transformer.layers." + std::to_string(layer) + ".";
    specs.add_layer_norm(block + "layer_norm1", clip.width);
    specs.add_linear_with_bias(block + "self_attn.qkv_proj", {3 * clip.width, clip.width});
    specs.add_linear_with_bias(block + "self_attn.out_proj", {clip.width, clip.width});
    specs.add_layer_norm(block + "layer_norm2", clip.width);
    specs.add_linear_with_bias(block + "mlp.fc1", {clip.mlp_ratio * clip.width, clip.width});
    specs.add_linear_with_bias(block + "mlp.fc2", {clip.width, clip.mlp_ratio * clip.width});
  }
}

void add_experts(const DeepseekOcrConfig& config, const std::string& mlp, Specs& specs) {
  specs.add(mlp + ".gate.weight", {config.n_routed_experts, config.hidden_size}, Role::Router);
  for (std::int64_t expert = 0; expert < config.n_routed_experts; ++expert) {
    specs.add_gated_network(mlp + ".experts." + std::to_string(expert), config.hidden_size,
                            config.moe_intermediate_size);
  }
  specs.add_gated_network(mlp + ".shared_experts", config.hidden_size,
                          config.shared_intermediate_size());
}

void add_decoder(const DeepseekOcrConfig& config, Specs& specs) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t queries = config.num_attention_heads * config.head_dim();
  const std::int64_t keys = config.num_key_value_heads * config.head_dim();
  specs.add("model.embed_tokens.weight", {config.vocab_size, hidden}, Role::Embedding);
  for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    specs.add(prefix + "input_layernorm.weight", {hidden}, Role::Norm);
    specs.add_linear(prefix + "self_attn.q_proj", {queries, hidden});
    specs.add_linear(prefix + "self_attn.k_proj", {keys, hidden});
    specs.add_linear(prefix + "self_attn.v_proj", {keys, hidden});
    specs.add_linear(prefix + "self_attn.o_proj", {hidden, queries});
    specs.add(prefix + "post_attention_layernorm.weight", {hidden}, Role::Norm);
    if (config.is_moe_layer(layer)) {
      add_experts(config, prefix + "mlp", specs);
    } else {
      specs.add_gated_network(prefix + "mlp", hidden, config.intermediate_size);
    }
  }
  specs.add("model.norm.weight", {hidden}, Role::Norm);
  specs.add("lm_head.weight", {config.vocab_size, hidden}, Role::Head);
}

constexpr std::size_t kListed = 5;

/// The first few, and how many more there are.
std::string listed(const std::vector<std::string>& items) {
  const std::size_t shown = std::min(items.size(), kListed);
  std::string text = join(std::span(items).first(shown), ", ");
  if (shown < items.size()) text += " and " + std::to_string(items.size() - shown) + " more";
  return text;
}

/// What is wrong with an existing tensor; empty if it is valid.
std::string problem_with(const TensorSpec& spec, const Tensor& tensor) {
  if (tensor.shape != spec.shape) {
    return schema::shown(Node::string(spec.name)) + " has shape " + to_string(tensor.shape) +
           ", not " + to_string(spec.shape);
  }
  if (!is_weight_dtype(tensor.dtype)) {
    return schema::shown(Node::string(spec.name)) + " is " + std::string(name(tensor.dtype)) +
           ", not F32, F16 or BF16";
  }
  return "";
}

/// The size of one side of a tensor; the fallback if it is missing or has another rank.
std::int64_t side_of(const Checkpoint& checkpoint, const std::string& name, std::size_t rank,
                     std::size_t axis, std::int64_t fallback) {
  const Tensor* tensor = checkpoint.find(name);
  const bool shows = tensor != nullptr && tensor->shape.size() == rank && tensor->shape[axis] > 0 &&
                     tensor->shape[axis] <= deepseek_ocr::kMaxSize;
  return shows ? tensor->shape[axis] : fallback;
}

bool is_buffer(std::string_view name) {
  return name.ends_with(".position_ids");
}

/// Keeps the variance of a product with `fan_in` inputs equal to that of one input.
double unit_scale(const TensorSpec& spec) {
  const std::int64_t fan_in = spec.element_count() / spec.shape.front();
  return std::sqrt(3.0 / static_cast<double>(fan_in));
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

/// SplitMix64's finaliser.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Calls `store(i, bf16)` for each element; each depends only on its own number, so the compiler
/// can vectorise.
template <typename Store>
void generate(const TensorSpec& spec, std::size_t count, std::uint64_t first, const Store& store) {
  const Spread spread = spread_of(spec);
  const std::uint64_t start = name_hash(spec.name) + (first + 1) * kGolden;
  for (std::size_t i = 0; i < count; ++i) {
    // 53 bits: as a signed number they convert to double in one instruction.
    const auto bits53 = static_cast<std::int64_t>(mixed(start + i * kGolden) >> 11);
    const double u = 2.0 * (static_cast<double>(bits53) * 0x1p-53) - 1.0;
    store(i, to_bf16(static_cast<float>(spread.offset + spread.scale * u)));
  }
}

}  // namespace

std::int64_t TensorSpec::element_count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<TensorSpec> tensor_specs(const DeepseekOcrConfig& config) {
  Specs specs;
  add_sam(config, specs);
  add_clip(config.clip(), specs);
  specs.add_linear_with_bias("model.projector.layers",
                             {config.projector_config.n_embed, config.projector_config.input_dim});
  specs.add("model.image_newline", {config.hidden_size}, Role::Embedding);
  specs.add("model.view_seperator", {config.hidden_size},
            Role::Embedding);  // the release's spelling
  add_decoder(config, specs);
  return std::move(specs).take();
}

std::int64_t element_count(std::span<const TensorSpec> specs) {
  return std::accumulate(
      specs.begin(), specs.end(), std::int64_t{0},
      [](std::int64_t sum, const TensorSpec& spec) { return sum + spec.element_count(); });
}

Result<std::vector<std::string>> check(std::span<const TensorSpec> specs,
                                       const Checkpoint& checkpoint) {
  std::vector<std::string> missing;
  std::vector<std::string> wrong;
  std::unordered_set<std::string_view> wanted;
  for (const TensorSpec& spec : specs) {
    wanted.insert(spec.name);
    const Tensor* tensor = checkpoint.find(spec.name);
    if (tensor == nullptr) {
      missing.push_back(schema::shown(Node::string(spec.name)));
    } else if (std::string problem = problem_with(spec, *tensor); !problem.empty()) {
      wrong.push_back(std::move(problem));
    }
  }
  if (!missing.empty() || !wrong.empty()) {
    std::string message = "does not fit config.json: ";
    if (!missing.empty()) {
      message += std::to_string(missing.size()) + " of " + counted(specs.size(), "tensor") +
                 (missing.size() == 1 ? " is" : " are") + " missing: " + listed(missing);
    }
    if (!wrong.empty()) message += (missing.empty() ? "" : "; ") + listed(wrong);
    return Error(ErrorKind::Config, std::move(message), Position{checkpoint.source().string()});
  }
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!wanted.contains(name) && !is_buffer(name)) unused.push_back(name);
  }
  return unused;
}

DeepseekOcrConfig with_sizes_of(DeepseekOcrConfig config, const Checkpoint& checkpoint) {
  deepseek_ocr::Sam& sam = config.vision_config.width.sam;
  deepseek_ocr::Clip& clip = config.vision_config.width.clip;
  const std::string prefix = "model.sam_model.";
  if (config.assumed.sam_patch_size) {
    sam.patch_size = side_of(checkpoint, prefix + "patch_embed.proj.weight", 4, 2, sam.patch_size);
  }
  if (config.assumed.sam_neck_channels) {
    sam.neck_channels = side_of(checkpoint, prefix + "neck.0.weight", 4, 0, sam.neck_channels);
  }
  if (config.assumed.sam_mlp_ratio) {
    sam.mlp_ratio = std::max<std::int64_t>(
        1, side_of(checkpoint, prefix + "blocks.0.mlp.lin1.bias", 1, 0, sam.mlp_ratio * sam.width) /
               sam.width);
  }
  if (config.assumed.clip_mlp_ratio) {
    const std::string bias = "model.vision_model.transformer.layers.0.mlp.fc1.bias";
    clip.mlp_ratio = std::max<std::int64_t>(
        1, side_of(checkpoint, bias, 1, 0, clip.mlp_ratio * clip.width) / clip.width);
  }
  for (std::int64_t layer = 0; config.assumed.sam_window_size && layer < sam.layers; ++layer) {
    if (sam.is_global(layer)) continue;
    const std::string table = prefix + "blocks." + std::to_string(layer) + ".attn.rel_pos_h";
    sam.window_size = (side_of(checkpoint, table, 2, 0, 2 * sam.window_size - 1) + 1) / 2;
    break;
  }
  config.assumed = {};
  return config;
}

Result<Model> open_model(const std::filesystem::path& folder) {
  DeepseekOcrConfig config = PL_TRY(load_deepseek_ocr_config(folder / "config.json"));
  Checkpoint checkpoint = PL_TRY(Checkpoint::open(folder));
  config = with_sizes_of(std::move(config), checkpoint);
  // The sizes that came from shapes must obey the same rules.
  PL_TRY(read_deepseek_ocr_config(to_node(config)).during("sizes of " + folder.string()));
  std::vector<std::string> unused = PL_TRY(check(tensor_specs(config), checkpoint));
  return Model{std::move(config), std::move(checkpoint), std::move(unused)};
}

Spread spread_of(const TensorSpec& spec) {
  switch (spec.role) {
    case Role::Norm:
      return {1.0, 0.1};
    case Role::Bias:
      return {0.0, 0.05};
    case Role::Linear:
      return {0.0, unit_scale(spec)};
    case Role::Router:  // routing that is spread out
    case Role::Head:    // few ties
      return {0.0, 2.0 * unit_scale(spec)};
    case Role::Embedding:
      return {0.0, 0.5};
    case Role::Position:
      return {0.0, 0.2};
  }
  return {0.0, 0.0};
}

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

void fill(const TensorSpec& spec, std::span<float> values, std::uint64_t first) {
  generate(spec, values.size(), first,
           [&](std::size_t i, std::uint16_t value) { values[i] = from_bf16(value); });
}

void fill_bf16(const TensorSpec& spec, std::span<std::uint16_t> values, std::uint64_t first) {
  generate(spec, values.size(), first,
           [&](std::size_t i, std::uint16_t value) { values[i] = value; });
}

}  // namespace profline::weights
