#include "workload/model/attention.h"

#include <limits>

#include "base/assert.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

/// Each of K heads H/K times in a row; the same tensor when there are H already.
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

}  // namespace profline::workload
