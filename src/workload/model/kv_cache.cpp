#include "workload/model/kv_cache.h"

#include "base/assert.h"

namespace profline::workload {

KvCache::KvCache(const DeepseekOcrConfig& config, const ModelOptions& options, std::int64_t batch,
                 std::int64_t capacity)
    : batch_(batch), capacity_(capacity) {
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

}  // namespace profline::workload
