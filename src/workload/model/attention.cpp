#include "workload/model/attention.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

/// Each of K heads repeated H/K times; the same tensor if there are H already.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t heads) {
  if (x.size(1) == heads) return x;
  PL_ASSERT(heads % x.size(1) == 0, "key heads divide query heads: the config was checked");
  return x.repeat_interleave(heads / x.size(1), 1);
}

}  // namespace

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                  Masking masking, bool fused) {
  if (!fused) return attend_explicitly(q, k, v, {}, scale, masking);
  return compat::scaled_dot_product_attention(
      q, repeat_heads(k, q.size(1)), repeat_heads(v, q.size(1)), masking == Masking::Causal, scale);
}

at::Tensor attend_masked(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const at::Tensor& mask, double scale, bool fused) {
  if (!fused) return attend_explicitly(q, k, v, mask, scale, Masking::None);
  return compat::scaled_dot_product_attention(
      q, repeat_heads(k, q.size(1)), repeat_heads(v, q.size(1)), /*causal=*/false, scale, mask);
}

at::Tensor attend_explicitly(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& bias, double scale, Masking masking) {
  at::Tensor scores = at::matmul(q, repeat_heads(k, q.size(1)).transpose(-2, -1)).mul_(scale);
  if (bias.defined()) scores.add_(bias);
  if (masking == Masking::Causal) {
    const at::Tensor later =
        at::ones({q.size(-2), k.size(-2)}, q.options().dtype(at::kBool)).triu_(1);
    scores.masked_fill_(later, -std::numeric_limits<double>::infinity());
  }
  const at::Tensor weights = at::softmax(scores, -1, at::kFloat).to(q.scalar_type());
  return at::matmul(weights, repeat_heads(v, q.size(1)));
}

QueryKeyValue split_heads(const at::Tensor& qkv, std::int64_t heads) {
  const auto batch = qkv.size(0);
  const auto tokens = qkv.size(1);
  const at::Tensor parts = qkv.view({batch, tokens, 3, heads, -1}).permute({2, 0, 3, 1, 4});
  return {parts.select(0, 0), parts.select(0, 1), parts.select(0, 2)};
}

at::Tensor join_heads(const at::Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}

Rope::Rope(std::int64_t head_dim, double theta, std::int64_t positions, at::Device device)
    : head_dim_(head_dim), theta_(theta), device_(device) {
  reserve(positions);
}

void Rope::reserve(std::int64_t positions) const {
  if (cos_.defined() && cos_.size(0) >= positions) return;
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor exponent = at::arange(0, head_dim_, 2, wide) / static_cast<double>(head_dim_);
  const at::Tensor turns = at::arange(positions, wide).unsqueeze(1) * at::pow(theta_, -exponent);
  const auto table = [&](const at::Tensor& first, const at::Tensor& second) {
    return at::cat({first, second}, 1).unsqueeze(1).to(at::kFloat).to(device_);
  };
  cos_ = table(turns.cos(), turns.cos());
  sin_ = table(-turns.sin(), turns.sin());
}

at::Tensor Rope::operator()(const at::Tensor& x, std::int64_t first) const {
  const std::int64_t tokens = x.size(1);
  if (first + tokens > cos_.size(0)) reserve(std::max(first + tokens, 2 * cos_.size(0)));
  return rotated(x, cos_.narrow(0, first, tokens), sin_.narrow(0, first, tokens));
}

at::Tensor Rope::operator()(const at::Tensor& x, const at::Tensor& positions,
                            std::int64_t end) const {
  if (end > cos_.size(0)) reserve(std::max(end, 2 * cos_.size(0)));
  const at::Tensor rows = positions.flatten();
  const auto at_positions = [&](const at::Tensor& table) {
    return table.index_select(0, rows).view({positions.size(0), positions.size(1), 1, head_dim_});
  };
  return rotated(x, at_positions(cos_), at_positions(sin_));
}

at::Tensor Rope::rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) const {
  const at::Tensor swapped =
      x.unflatten(-1, at::IntArrayRef{2, head_dim_ / 2}).flip({-2}).flatten(-2);
  return (x * cos).add_(swapped * sin);
}

at::Tensor resize_position_grid(const at::Tensor& table, std::int64_t side) {
  if (table.size(1) == side) return table;
  const at::Tensor planes = table.permute({0, 3, 1, 2}).to(at::kFloat).contiguous();
  const at::Tensor resized =
      at::_upsample_bicubic2d_aa(planes, at::IntArrayRef{side, side}, /*align_corners=*/false);
  return resized.to(table.scalar_type()).permute({0, 2, 3, 1}).contiguous();
}

at::Tensor resize_relative_positions(const at::Tensor& table, std::int64_t length) {
  if (table.size(0) == length) return table;
  const at::Tensor line = table.t().unsqueeze(0).to(at::kFloat).contiguous();
  const at::Tensor resized =
      at::upsample_linear1d(line, at::IntArrayRef{length}, /*align_corners=*/false);
  return resized.squeeze(0).t().to(table.scalar_type()).contiguous();
}

KvCache::KvCache(const DeepseekOcrConfig& config, const ModelOptions& options, std::int64_t batch,
                 std::int64_t capacity)
    : batch_(batch), capacity_(capacity), dtype_(options.dtype) {
  for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    layers_.push_back(at::empty({2, batch, config.num_key_value_heads, capacity, config.head_dim()},
                                at::TensorOptions().dtype(options.dtype).device(options.device)));
  }
}

KvCache::View KvCache::append(std::int64_t layer, const at::Tensor& keys,
                              const at::Tensor& values) {
  const std::int64_t tokens = keys.size(2);
  PL_ASSERT(length_ + tokens <= capacity_, "the cache was made for all tokens that come");
  const at::Tensor& stored = layers_[static_cast<std::size_t>(layer)];
  const at::Tensor all = stored.narrow(3, 0, length_ + tokens);
  View view{all.select(0, 0), all.select(0, 1)};
  view.keys.narrow(2, length_, tokens).copy_(keys);
  view.values.narrow(2, length_, tokens).copy_(values);
  return view;
}

void KvCache::pad(const std::vector<std::int64_t>& tokens) {
  PL_ASSERT(length_ == 0, "padding comes before the first token");
  PL_ASSERT(static_cast<std::int64_t>(tokens.size()) == batch_, "each sequence has its padding");
  padding_ = at::tensor(tokens, at::TensorOptions(at::kLong)).to(layers_.front().device());
  padding_ = padding_.unsqueeze(1);
}

Places KvCache::places(std::int64_t tokens) const {
  PL_ASSERT(is_padded(), "the caller asked whether there is padding");
  const std::int64_t all = length_ + tokens;
  const at::Tensor keys = at::arange(all, padding_.options());  // [N]
  const at::Tensor queries = keys.narrow(0, length_, tokens);   // [T]
  const at::Tensor later = keys.unsqueeze(0) > queries.unsqueeze(1);
  // Padding attends to itself: a softmax over nothing is NaN, and would spread.
  const at::Tensor other = keys.unsqueeze(0) != queries.unsqueeze(1);
  const at::Tensor is_padding = (keys < padding_).unsqueeze(1);  // [B, 1, N]
  const at::Tensor hidden = is_padding.logical_and(other).logical_or(later);
  const at::Tensor mask = at::zeros(hidden.sizes(), padding_.options().dtype(dtype_))
                              .masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  return {(queries - padding_).clamp_min(0), mask.unsqueeze(1)};
}

}  // namespace profline::workload
