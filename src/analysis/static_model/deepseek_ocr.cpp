#include "analysis/static_model/deepseek_ocr.h"

namespace profline::static_model {
namespace {

Count size(std::int64_t value) {
  return Count::of(value);
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

ModelCost deepseek_ocr_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                            const std::vector<ViewBatch>& batches, const Request& request) {
  ModelCost cost = decoder_cost(language_decoder(config), format, request);
  cost.groups = parameter_groups(config);
  if (batches.empty()) return cost;
  std::vector<ViewBatch> of_all = batches;
  for (ViewBatch& batch : of_all) batch.views *= request.batch;
  std::vector<StageCost> stages = {sam_cost(config, format, of_all),
                                   clip_cost(config, format, of_all),
                                   projector_cost(config, format, of_all)};
  cost.stages.insert(cost.stages.begin(), stages.begin(), stages.end());
  return cost;
}

}  // namespace profline::static_model
