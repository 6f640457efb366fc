#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::workload {

/// One operator of a stage.
struct TracedOperator {
  std::string name;
  std::uint64_t calls = 0;
  std::int64_t flops = 0;  ///< multiply-add is 2; products, convolutions and attention only

  bool operator==(const TracedOperator&) const = default;
};

/// What a stretch of work is made of.
struct OperatorCounts {
  std::vector<TracedOperator> operators;  ///< most FLOPs first, then by name

  std::int64_t flops() const;
};

/// Runs `work` and counts: every operator that is made of no others, and the products,
/// convolutions and attentions with their FLOPs, each where it is called first (a product inside
/// attention is part of that). Tensors may be on any device; on the meta device nothing is computed
/// and no memory is needed.
Result<OperatorCounts> count_operators(const std::function<Result<void>()>& work);

/// For as long as it lives, the meta device also has the operators that some versions of libtorch
/// left out there and our models need: convolution and a few others of 1.13.
class MetaKernels {
 public:
  MetaKernels();
  ~MetaKernels();
  MetaKernels(const MetaKernels&) = delete;
  MetaKernels& operator=(const MetaKernels&) = delete;

 private:
  struct Registrations;
  std::unique_ptr<Registrations> registrations_;
};

Node to_node(const OperatorCounts& counts);

}  // namespace profline::workload
