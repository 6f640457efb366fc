#include "analysis/static_model/deepseek_ocr.h"

#include <algorithm>

namespace profline::static_model {
namespace {

Count size(std::int64_t value) {
  return Count::of(value);
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

std::uint64_t half(std::uint64_t side) {
  return ceil_div(side, 2);  // of a convolution with stride 2 and padding 1
}

/// Tokens along one side after the patch convolution.
std::uint64_t patches_on_side(const DeepseekOcrConfig& config, std::uint64_t side) {
  return side / static_cast<std::uint64_t>(config.sam().patch_size);
}

/// Sums operators over batches: the work of each batch, the weights once.
class Sum {
 public:
  explicit Sum(const NumberFormat& format) : format_(format) {}

  /// FLOPs and activations (in elements) of one view.
  void add(std::string name, Count parameters, Count flops, Count elements, Count views) {
    OperatorCost& cost = operator_of(std::move(name), parameters);
    cost.flops += flops * views;
    cost.weight_bytes += parameters * format_.bytes;
    cost.activation_bytes += elements * views * format_.bytes;
  }
  /// Parameters that are stored but never read.
  void add_unused(std::string name, Count parameters) { operator_of(std::move(name), parameters); }

  std::vector<OperatorCost> take() { return std::move(operators_); }

 private:
  OperatorCost& operator_of(std::string name, Count parameters) {
    const auto found = std::find_if(operators_.begin(), operators_.end(),
                                    [&](const OperatorCost& cost) { return cost.name == name; });
    if (found != operators_.end()) return *found;
    OperatorCost cost;
    cost.name = std::move(name);
    cost.parameters = parameters;
    operators_.push_back(std::move(cost));
    return operators_.back();
  }

  const NumberFormat& format_;
  std::vector<OperatorCost> operators_;
};

struct SamBlocks {
  std::uint64_t windowed = 0;
  std::uint64_t global = 0;
};
SamBlocks sam_blocks(const deepseek_ocr::Sam& sam) {
  SamBlocks blocks;
  for (std::int64_t layer = 0; layer < sam.layers; ++layer) {
    ++(sam.is_global(layer) ? blocks.global : blocks.windowed);
  }
  return blocks;
}

/// One kind of SAM's attention: projections, scores and values, relative positions.
struct SamAttention {
  std::string kind;
  Count blocks;
  Count tokens;   // padding included
  Count windows;  // 1: the whole map
  Count side;     // of a window
  Count table;    // stored relative positions of one axis
};

void add_attention(const deepseek_ocr::Sam& sam, const SamAttention& attention, Count views,
                   Sum& sum) {
  if (attention.blocks == Count()) return;
  const Count d = size(sam.width);
  const Count heads = size(sam.heads);
  const Count head_dim = size(sam.head_dim());
  const Count keys = attention.side * attention.side;
  const Count pairs = attention.windows * keys * keys;
  const Count bias = heads * pairs;  // one value for each pair in each head
  sum.add(attention.kind + " projections", attention.blocks * Count(4) * (d * d + d),
          attention.blocks * Count(8) * d * d * attention.tokens,
          attention.blocks * Count(6) * d * attention.tokens, views);
  sum.add(attention.kind + " attention", Count(), attention.blocks * Count(4) * d * pairs,
          attention.blocks * (Count(4) * d * attention.tokens + bias), views);
  sum.add(attention.kind + " relative positions",
          attention.blocks * Count(2) * attention.table * head_dim,
          attention.blocks * Count(4) * d * attention.windows * keys * attention.side,
          attention.blocks * (d * attention.tokens + bias), views);
}

void add_sam(const DeepseekOcrConfig& config, const ViewBatch& batch, Sum& sum) {
  const deepseek_ocr::Sam& sam = config.sam();
  const SamBlocks blocks = sam_blocks(sam);
  const Count d = size(sam.width);
  const Count views = batch.views;
  const Count patch = size(sam.patch_size) * size(sam.patch_size) * 3;
  const std::uint64_t g = patches_on_side(config, batch.side);
  const Count n = Count(g) * g;
  const auto window = static_cast<std::uint64_t>(sam.window_size);
  const Count windows = Count(ceil_div(g, window)) * ceil_div(g, window);
  const Count stored = size(config.sam_grid());

  sum.add("patch embedding", patch * d + d, Count(2) * patch * d * n,
          Count(3) * batch.side * batch.side + d * n, views);
  sum.add("positions", stored * stored * d, Count(), Count(2) * d * n, views);
  sum.add("norms", size(sam.layers) * Count(4) * d, Count(), size(sam.layers) * Count(4) * d * n,
          views);
  add_attention(sam,
                {"windowed", blocks.windowed, windows * window * window, windows, window,
                 Count(2 * window - 1)},
                views, sum);
  const std::uint64_t table = 2 * stored.value() - 1;
  add_attention(sam, {"global", blocks.global, n, 1, g, table}, views, sum);
  const Count inner = size(sam.mlp_ratio) * d;
  sum.add("feed-forward", size(sam.layers) * (Count(2) * d * inner + inner + d),
          size(sam.layers) * Count(4) * d * inner * n,
          size(sam.layers) * Count(2) * (d + inner) * n, views);
  const Count c = size(sam.neck_channels);
  sum.add("neck", d * c + Count(9) * c * c + Count(4) * c,
          (Count(2) * d * c + Count(18) * c * c) * n, (d + Count(7) * c) * n, views);
  Count channels = c;
  std::uint64_t side = g;
  int number = 2;
  for (const std::int64_t next : sam.downsample_channels) {
    const Count before = Count(side) * side;
    side = half(side);
    const Count after = Count(side) * side;
    sum.add("net_" + std::to_string(number++), Count(9) * channels * size(next),
            Count(18) * channels * size(next) * after, channels * before + size(next) * after,
            views);
    channels = size(next);
  }
}

void add_clip(const DeepseekOcrConfig& config, const ViewBatch& batch, Sum& sum) {
  const deepseek_ocr::Clip& clip = config.clip();
  const Count d = size(clip.width);
  const Count layers = size(clip.layers);
  const Count views = batch.views;
  const std::uint64_t q = tokens_on_side(config, batch.side);
  const Count tokens = Count(q) * q + 1;
  const Count inner = size(clip.mlp_ratio) * d;
  const Count positions = size(clip.grid()) * size(clip.grid()) + 1;
  sum.add("class and positions", d + positions * d, Count(), Count(2) * d * tokens, views);
  sum.add("norms", Count(2) * d + layers * Count(4) * d, Count(),
          (Count(2) + Count(4) * layers) * d * tokens, views);
  sum.add("attention projections", layers * Count(4) * (d * d + d),
          layers * Count(8) * d * d * tokens, layers * Count(6) * d * tokens, views);
  sum.add("attention", Count(), layers * Count(4) * d * tokens * tokens,
          layers * Count(4) * d * tokens, views);
  sum.add("feed-forward", layers * (Count(2) * d * inner + inner + d),
          layers * Count(4) * d * inner * tokens, layers * Count(2) * (d + inner) * tokens, views);
  sum.add_unused("patch embedding (stored, not used)",
                 d * 3 * size(clip.patch_size) * size(clip.patch_size));
}

Count last_channels(const DeepseekOcrConfig& config) {
  return size(config.sam().downsample_channels.empty() ? config.sam().neck_channels
                                                       : config.sam().downsample_channels.back());
}

/// Elements over all views.
template <typename Elements>
Count in_all(const std::vector<ViewBatch>& batches, const NumberFormat& format, Elements of_view) {
  Count sum;
  for (const ViewBatch& batch : batches) sum += of_view(batch.side) * batch.views;
  return sum * format.bytes;
}

std::uint64_t number(const std::optional<std::int64_t>& value) {
  return Count::of(value.value_or(0)).value();
}

Count sam_block(const DeepseekOcrConfig& config, Count table) {
  const deepseek_ocr::Sam& sam = config.sam();
  const Count d = size(sam.width);
  const Count inner = size(sam.mlp_ratio) * d;
  return Count(4) * d + Count(4) * (d * d + d) + Count(2) * table * size(sam.head_dim()) +
         Count(2) * d * inner + inner + d;
}

void add_sam_groups(const DeepseekOcrConfig& config, std::vector<ParameterGroup>& groups) {
  const deepseek_ocr::Sam& sam = config.sam();
  const Count d = size(sam.width);
  const Count patch = Count(3) * size(sam.patch_size) * size(sam.patch_size);
  const Count grid = size(config.sam_grid());
  std::uint64_t global = 0;
  for (std::int64_t layer = 0; layer < sam.layers; ++layer)
    global += sam.is_global(layer) ? 1U : 0U;
  const std::uint64_t windowed = size(sam.layers).value() - global;
  const std::uint64_t window_table = 2 * size(sam.window_size).value() - 1;
  const std::uint64_t map_table = 2 * grid.value() - 1;
  constexpr std::uint64_t kBlockTensors = 14;
  const Count c = size(sam.neck_channels);
  groups.push_back({"sam patch embedding", 2, patch * d + d});
  groups.push_back({"sam positions", 1, grid * grid * d});
  groups.push_back({"sam windowed blocks", Count(windowed) * kBlockTensors,
                    Count(windowed) * sam_block(config, window_table)});
  groups.push_back({"sam global blocks", Count(global) * kBlockTensors,
                    Count(global) * sam_block(config, map_table)});
  groups.push_back({"sam neck", 6, d * c + Count(9) * c * c + Count(4) * c});
  Count channels = c;
  int net = 2;
  for (const std::int64_t next : sam.downsample_channels) {
    groups.push_back({"sam net_" + std::to_string(net++), 1, Count(9) * channels * size(next)});
    channels = size(next);
  }
}

void add_clip_groups(const DeepseekOcrConfig& config, std::vector<ParameterGroup>& groups) {
  const deepseek_ocr::Clip& clip = config.clip();
  const Count d = size(clip.width);
  const Count inner = size(clip.mlp_ratio) * d;
  const Count positions = size(clip.grid()) * size(clip.grid()) + 1;
  const Count patch = d * 3 * size(clip.patch_size) * size(clip.patch_size);
  constexpr std::uint64_t kBlockTensors = 12;
  groups.push_back({"clip embeddings", 5, d + patch + positions * d + Count(2) * d});
  groups.push_back({"clip blocks", size(clip.layers) * kBlockTensors,
                    size(clip.layers) * (Count(4) * d + Count(4) * (d * d + d) +
                                         Count(2) * d * inner + inner + d)});
}

}  // namespace

std::uint64_t tokens_on_side(const DeepseekOcrConfig& config, std::uint64_t side) {
  std::uint64_t tokens = patches_on_side(config, side);
  for (std::size_t i = 0; i < config.sam().downsample_channels.size(); ++i) tokens = half(tokens);
  return tokens;
}

PhaseCost sam_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                   const std::vector<ViewBatch>& batches) {
  Sum sum(format);
  for (const ViewBatch& batch : batches) add_sam(config, batch, sum);
  PhaseCost cost;
  cost.phase = ModelPhase::Sam;
  cost.operators = sum.take();
  cost.input_bytes =
      in_all(batches, format, [](std::uint64_t side) { return Count(3) * side * side; });
  cost.output_bytes = in_all(batches, format, [&](std::uint64_t side) {
    const Count q = tokens_on_side(config, side);
    return q * q * last_channels(config);
  });
  return cost;
}

PhaseCost clip_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                    const std::vector<ViewBatch>& batches) {
  Sum sum(format);
  for (const ViewBatch& batch : batches) add_clip(config, batch, sum);
  PhaseCost cost;
  cost.phase = ModelPhase::Clip;
  cost.operators = sum.take();
  cost.input_bytes = sam_cost(config, format, batches).output_bytes;
  cost.output_bytes = in_all(batches, format, [&](std::uint64_t side) {
    const Count q = tokens_on_side(config, side);
    return (q * q + 1) * size(config.clip().width);
  });
  return cost;
}

PhaseCost projector_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                         const std::vector<ViewBatch>& batches) {
  const Count in = size(config.projector_config.input_dim);
  const Count out = size(config.projector_config.n_embed);
  Sum sum(format);
  for (const ViewBatch& batch : batches) {
    const Count q = tokens_on_side(config, batch.side);
    sum.add("projection", in * out + out, Count(2) * in * out * q * q, (in + out) * q * q,
            batch.views);
  }
  const auto rows = [&](Count width) {
    return in_all(batches, format, [&](std::uint64_t side) {
      const Count q = tokens_on_side(config, side);
      return q * q * width;
    });
  };
  PhaseCost cost;
  cost.phase = ModelPhase::Projector;
  cost.operators = sum.take();
  cost.input_bytes = rows(in);
  cost.output_bytes = rows(out);
  return cost;
}

Decoder language_decoder(const DeepseekOcrConfig& config) {
  Decoder decoder;
  decoder.model_type = "deepseek_ocr";
  decoder.vocabulary = size(config.vocab_size).value();
  decoder.hidden = size(config.hidden_size).value();
  decoder.layers = size(config.num_hidden_layers).value();
  decoder.heads = size(config.num_attention_heads).value();
  decoder.kv_heads = size(config.num_key_value_heads).value();
  decoder.head_dim = size(config.head_dim()).value();
  decoder.dense_width = size(config.intermediate_size).value();
  for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    decoder.expert_layers += config.is_moe_layer(layer) ? 1U : 0U;
  }
  Experts experts;
  experts.routed = size(config.n_routed_experts).value();
  experts.chosen = size(config.num_experts_per_tok).value();
  experts.width = size(config.moe_intermediate_size).value();
  experts.shared_width = size(config.shared_intermediate_size()).value();
  decoder.experts = experts;
  if (config.use_mla) {
    decoder.latent = LatentAttention{number(config.q_lora_rank), number(config.kv_lora_rank),
                                     number(config.qk_nope_head_dim),
                                     number(config.qk_rope_head_dim), number(config.v_head_dim)};
  }
  decoder.qkv_bias = decoder.output_bias = config.attention_bias;
  decoder.tied_head = config.tie_word_embeddings;
  decoder.max_positions = size(config.max_position_embeddings).value();
  decoder.dtype = config.torch_dtype.value_or("");
  return decoder;
}

std::vector<ParameterGroup> parameter_groups(const DeepseekOcrConfig& config) {
  const Count in = size(config.projector_config.input_dim);
  const Count out = size(config.projector_config.n_embed);
  std::vector<ParameterGroup> groups;
  add_sam_groups(config, groups);
  add_clip_groups(config, groups);
  groups.push_back({"projector", 2, in * out + out});
  groups.push_back({"newline and separator", 2, Count(2) * size(config.hidden_size)});
  for (ParameterGroup& group : parameter_groups(language_decoder(config))) {
    group.name = "decoder " + group.name;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::span<const std::string_view> deepseek_ocr_phases() {
  static constexpr std::string_view kPhases[] = {"prefill",           "prefill/sam", "prefill/clip",
                                                 "prefill/projector", "prefill/lm",  "decode"};
  return kPhases;
}

ModelCost deepseek_ocr_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                            const std::vector<ViewBatch>& batches, const Request& request) {
  ModelCost cost = decoder_cost(language_decoder(config), format, request);
  cost.groups = parameter_groups(config);
  if (batches.empty()) return cost;
  std::vector<ViewBatch> of_all = batches;
  if (request.sequences.empty()) {
    for (ViewBatch& batch : of_all) batch.views *= request.batch;
  }
  std::vector<PhaseCost> phases = {sam_cost(config, format, of_all),
                                   clip_cost(config, format, of_all),
                                   projector_cost(config, format, of_all)};
  cost.phases.insert(cost.phases.begin(), phases.begin(), phases.end());
  return cost;
}

}  // namespace profline::static_model
