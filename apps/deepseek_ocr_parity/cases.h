#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/weights/checkpoint.h"
#include "schema/field.h"
#include "workload/generation/generate.h"

namespace profline::parity {

/// Limits for the comparison with the reference; a run that exceeds them fails.
constexpr double kImageTokensLimit = 2e-4;
constexpr double kLogitsLimit = 1e-3;
/// Ids that the reference chose by a smaller margin than this may differ.
constexpr double kMarginLimit = 1e-3;
/// Relative errors are reported for values above this; for smaller values they mean nothing.
constexpr double kRelativeFrom = 1e-3;

/// The difference between a tensor and the reference.
struct Difference {
  std::string name;
  std::vector<std::int64_t> shape;
  double absolute = 0;
  double relative = 0;
  std::optional<double> limit;  ///< of the absolute error

  bool passes() const { return !limit || absolute <= *limit; }
};

/// The reference's outputs, as fp32 tensors on the CPU.
class Reference {
 public:
  explicit Reference(weights::Checkpoint file) : file_(std::move(file)) {}

  Result<at::Tensor> tensor(const std::string& name) const;
  /// An Error if there is no such tensor or it has another shape. NaN and infinity count as
  /// infinitely far.
  Result<Difference> compare(const std::string& name, const at::Tensor& computed,
                             std::optional<double> limit) const;

 private:
  weights::Checkpoint file_;
};

/// Ids that differ from the reference.
struct IdDifferences {
  std::size_t compared = 0;
  std::size_t excused = 0;         ///< different, but the reference's margin is below the limit
  std::vector<std::string> wrong;  ///< `id 3: 17, the reference 42 (margin 0.1)`
};

/// The margin by which the likeliest id of each row of logits [n, V] leads.
std::vector<double> margins(const at::Tensor& logits);

/// `margins[i]` is the margin by which the reference chose ids[i].
IdDifferences compare_ids(const std::vector<std::int64_t>& computed,
                          const std::vector<std::int64_t>& reference,
                          const std::vector<double>& margins);

/// One input of `cases.json`, and the ids that the reference generated for it.
struct Case {
  std::string name;
  std::int64_t global_size = 0;
  std::optional<std::vector<std::int64_t>> local;  ///< number of tiles, side of a tile
  std::vector<std::int64_t> grid_wh;               ///< tiles across, tiles down
  std::vector<std::int64_t> ids_before;            ///< of the prompt, before the image's slots
  std::vector<std::int64_t> ids_after;
  std::vector<std::int64_t> greedy_ids;
  std::int64_t seq_len = 0;
};
constexpr auto fields(std::type_identity<Case>) {
  return field_list(
      field("case", &Case::name, "prefix of its tensors").required(),
      field("global_size", &Case::global_size, "side of the page's view").required().at_least(16),
      field("local", &Case::local, "number of tiles and their side; null: none").at_least(1),
      field("grid_wh", &Case::grid_wh, "tiles across and down").required().at_least(1),
      field("ids_before", &Case::ids_before, "prompt before the image").required().at_least(0),
      field("ids_after", &Case::ids_after, "prompt after the image").required().at_least(0),
      field("greedy_ids", &Case::greedy_ids, "what the reference generated").required().at_least(0),
      field("seq_len", &Case::seq_len, "length of the prompt, slots included").required());
}

struct Cases {
  std::vector<Case> cases;
  std::string pattern;
};
constexpr auto fields(std::type_identity<Cases>) {
  return field_list(field("cases", &Cases::cases, "the inputs").required(),
                    field("pattern", &Cases::pattern, "how pixels are made").required());
}

/// The formula of the pixels that this program implements, as spelled in the file.
extern const std::string kPattern;

/// An Error names the key that is missing, malformed or contradicts another one.
Result<Cases> load_cases(const std::filesystem::path& path);

/// The result of one case.
struct Outcome {
  std::vector<Difference> tensors;
  IdDifferences forced;   ///< each id chosen after the reference's previous ids
  IdDifferences running;  ///< each id chosen after our own previous ids
  std::map<std::string, at::Tensor> computed;  ///< on the CPU; fp32, ids int64

  bool passes() const;
};

/// Runs the case on the engine and compares everything that the reference has. An Error if case and
/// reference do not match, and for exceptions of libtorch.
Result<Outcome> run_case(const Case& one, workload::Engine& engine, const Reference& reference);

}  // namespace profline::parity
