#include "comparison.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace profline::parity {

Result<at::Tensor> Reference::tensor(const std::string& name) const {
  const weights::Tensor* stored = file_.find(name);
  if (stored == nullptr) {
    return Error(ErrorKind::NotFound, file_.source().string() + ": no tensor '" + name + "'");
  }
  if (stored->dtype != weights::Dtype::F32) {
    return Error(ErrorKind::Parse, file_.source().string() + ": tensor '" + name + "' is not F32");
  }
  at::Tensor copy = at::empty(stored->shape, at::kFloat);
  std::memcpy(copy.data_ptr(), stored->bytes.data(), stored->bytes.size());
  return copy;
}

Result<Difference> Reference::compare(const std::string& name, const at::Tensor& computed,
                                      std::optional<double> limit) const {
  const at::Tensor expected = PL_TRY(tensor(name));
  if (computed.sizes() != expected.sizes()) {
    return Error(ErrorKind::Parse, fmt::format("{}: tensor '{}' has shape {}, computed was {}",
                                               file_.source().string(), name,
                                               weights::to_string(expected.sizes().vec()),
                                               weights::to_string(computed.sizes().vec())));
  }
  Difference difference{name, computed.sizes().vec(), 0, 0, limit};
  const at::Tensor distance =
      at::nan_to_num((computed.cpu() - expected).abs(), std::numeric_limits<double>::infinity());
  difference.absolute = distance.max().item<double>();
  const at::Tensor size = expected.abs();
  difference.relative =
      at::where(size >= kRelativeFrom, distance / size, at::zeros_like(size)).max().item<double>();
  return difference;
}

std::vector<double> margins(const at::Tensor& logits) {
  const at::Tensor best = std::get<0>(logits.topk(2, -1)).to(at::kDouble);
  const at::Tensor ahead = (best.select(-1, 0) - best.select(-1, 1)).contiguous();
  return {ahead.data_ptr<double>(), ahead.data_ptr<double>() + ahead.numel()};
}

IdDifferences compare_ids(const std::vector<std::int64_t>& computed,
                          const std::vector<std::int64_t>& reference,
                          const std::vector<double>& margins) {
  IdDifferences result;
  result.compared = std::min({computed.size(), reference.size(), margins.size()});
  for (std::size_t i = 0; i < result.compared; ++i) {
    if (computed[i] == reference[i]) continue;
    if (margins[i] <= kMarginLimit) {
      ++result.excused;
      continue;
    }
    result.wrong.push_back(fmt::format("id {}: {}, the reference {} (margin {:.2g})", i,
                                       computed[i], reference[i], margins[i]));
  }
  return result;
}

}  // namespace profline::parity
