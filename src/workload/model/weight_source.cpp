#include "workload/model/weight_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/error.h"
#include "inputs/weights/model_tensors.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

/// Less than this is not worth another thread.
constexpr std::size_t kLeastPart = 64U << 10U;

/// More threads gain no bandwidth.
constexpr int kMostThreads = 8;

c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

using Specs = std::map<std::string, weights::TensorSpec, std::less<>>;

Specs specs_by_name(const DeepseekOcrConfig& config) {
  Specs specs;
  for (weights::TensorSpec& spec : weights::tensor_specs(config)) {
    std::string name = spec.name;
    specs.emplace(std::move(name), std::move(spec));
  }
  return specs;
}

const weights::TensorSpec& spec_of(const Specs& specs, std::string_view name) {
  const auto found = specs.find(name);
  PL_ASSERT(found != specs.end(), "the model asks for tensors that its own list names");
  return found->second;
}

at::ScalarType scalar_type(weights::Dtype dtype) {
  switch (dtype) {
    case weights::Dtype::BF16:
      return at::kBFloat16;
    case weights::Dtype::F16:
      return at::kHalf;
    default:
      return at::kFloat;
  }
}

/// Below this size, starting a copy costs more than its bytes.
constexpr std::size_t kStagedBytes = 1U << 16U;

}  // namespace

CopyThreads::CopyThreads(std::size_t count)
    : count_(std::max<std::size_t>(1, count)),
      begin_(static_cast<std::ptrdiff_t>(count_)),
      end_(static_cast<std::ptrdiff_t>(count_)) {
  others_.reserve(count_ - 1);
  for (std::size_t i = 1; i < count_; ++i) others_.emplace_back([this, i] { work(i); });
}

CopyThreads::~CopyThreads() {
  is_over_ = true;
  begin_.arrive_and_wait();
}

void CopyThreads::copy(std::span<const std::byte> from, std::byte* to) {
  from_ = from;
  to_ = to;
  begin_.arrive_and_wait();
  copy_part(0);
  end_.arrive_and_wait();
}

void CopyThreads::work(std::size_t index) {
  while (true) {
    begin_.arrive_and_wait();
    if (is_over_) return;
    copy_part(index);
    end_.arrive_and_wait();
  }
}

void CopyThreads::copy_part(std::size_t index) const {
  const std::size_t part = std::max(kLeastPart, (from_.size() + count_ - 1) / count_);
  const std::size_t begin = std::min(from_.size(), index * part);
  const std::size_t size = std::min(part, from_.size() - begin);
  if (size > 0) std::memcpy(to_ + begin, from_.data() + begin, size);
}

StagedCopy::Piece& StagedCopy::next_free(at::Device device) {
  Piece& piece = pieces_[next_];
  next_ = (next_ + 1) % pieces_.size();
  if (!piece.memory.defined()) {
    piece.memory = at::empty({static_cast<std::int64_t>(piece_bytes_)},
                             at::TensorOptions().dtype(at::kByte).pinned_memory(!device.is_cpu()));
  }
  // Not synchronize(), which libtorch 1.13 lacks.
  while (piece.fetched && !piece.fetched->query()) std::this_thread::yield();
  return piece;
}

void StagedCopy::copy(std::span<const std::byte> bytes, const at::Tensor& destination) {
  PL_ASSERT(destination.is_contiguous() && destination.nbytes() == bytes.size(),
            "the caller compared shape and dtype");
  if (!threads_) {
    const int count = std::min(kMostThreads, at::get_num_threads());
    threads_ = std::make_unique<CopyThreads>(static_cast<std::size_t>(count));
  }
  const at::Device device = destination.device();
  const at::Tensor to = destination.view({-1}).view(at::kByte);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto part = bytes.subspan(done, std::min(piece_bytes_, bytes.size() - done));
    const auto size = static_cast<std::int64_t>(part.size());
    Piece& piece = next_free(device);
    threads_->copy(part, static_cast<std::byte*>(piece.memory.data_ptr()));
    to.narrow(0, static_cast<std::int64_t>(done), size)
        .copy_(piece.memory.narrow(0, 0, size), /*non_blocking=*/true);
    if (!device.is_cpu()) {
      if (!piece.fetched) piece.fetched.emplace(device.type());
      piece.fetched->record(current_stream(device));
    }
    done += part.size();
  }
}

Result<void> CheckpointWeights::fill(std::string_view name, at::Tensor destination) {
  const weights::Tensor* stored = checkpoint_.find(name);
  if (stored == nullptr) {
    return Error(ErrorKind::NotFound,
                 checkpoint_.source().string() + ": no tensor '" + std::string(name) + "'");
  }
  if (destination.sizes() != at::IntArrayRef(stored->shape)) {
    return Error(ErrorKind::Parse, checkpoint_.source().string() + ": tensor '" +
                                       std::string(name) + "' has shape " +
                                       weights::to_string(stored->shape) + ", the model needs " +
                                       weights::to_string(destination.sizes().vec()));
  }
  if (!weights::is_weight_dtype(stored->dtype)) {
    return Error(ErrorKind::Parse, checkpoint_.source().string() + ": tensor '" +
                                       std::string(name) + "' has dtype " +
                                       std::string(weights::name(stored->dtype)) +
                                       " (F32, F16 and BF16 can be loaded)");
  }
  const bool is_same = scalar_type(stored->dtype) == destination.scalar_type();
  if (is_same && destination.is_cuda() && stored->bytes.size() >= kStagedBytes) {
    staged_.copy(stored->bytes, destination);
    return {};
  }
  std::vector<std::byte> aligned;
  const std::byte* bytes = stored->bytes.data();
  if (!stored->is_aligned()) {
    aligned.assign(stored->bytes.begin(), stored->bytes.end());
    bytes = aligned.data();
  }
  // from_blob takes no pointer to const; nothing writes through this one.
  destination.copy_(at::from_blob(const_cast<std::byte*>(bytes), stored->shape,
                                  at::TensorOptions().dtype(scalar_type(stored->dtype))));
  return {};
}

RandomWeights::RandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device)
    : specs_(specs_by_name(config)), generator_(compat::seeded_generator(device, seed)) {}

Result<void> RandomWeights::fill(std::string_view name, at::Tensor destination) {
  const auto [offset, scale] = weights::spread_of(spec_of(specs_, name));
  destination.uniform_(offset - scale, offset + scale, generator_);
  return {};
}

DeterministicWeights::DeterministicWeights(const DeepseekOcrConfig& config)
    : specs_(specs_by_name(config)) {}

Result<void> DeterministicWeights::fill(std::string_view name, at::Tensor destination) {
  std::vector<float> values(static_cast<std::size_t>(destination.numel()));
  weights::fill(spec_of(specs_, name), values);
  destination.copy_(at::from_blob(values.data(), destination.sizes(), at::kFloat));
  return {};
}

}  // namespace profline::workload
