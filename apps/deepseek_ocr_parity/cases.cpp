#include "cases.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/files.h"
#include "formats/json.h"
#include "inputs/tokenizer/tokenizer.h"
#include "schema/read.h"
#include "workload/generation/generate.h"
#include "workload/torch_runtime.h"

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

const std::string kPattern =
    "x[c,i,j]=sin(0.011*(c+1)*(i+1+37*k))*cos(0.017*(j+1+11*c)), k=0 for the global view, k=1.. "
    "for "
    "local views; float64 then cast to float32";

namespace {

Result<void> check(const Case& one, const std::string& source) {
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorKind::Parse, "case '" + one.name + "': " + what, {source});
  };
  if (one.grid_wh.size() != 2) return wrong("grid_wh must be two numbers");
  if (one.local) {
    if (one.local->size() != 2) return wrong("local must be two numbers or null");
    if (one.local->front() != one.grid_wh[0] * one.grid_wh[1]) {
      return wrong("local must have as many tiles as grid_wh");
    }
  }
  if (one.greedy_ids.empty()) return wrong("greedy_ids must not be empty");
  return {};
}

}  // namespace

Result<Cases> load_cases(const std::filesystem::path& path) {
  const std::string text = PL_TRY(read_file(path));
  auto cases = PL_TRY(schema::read<Cases>(PL_TRY(parse_json(text, path.string()))));
  for (const Case& one : cases.cases) PL_TRY(check(one, path.string()));
  return cases;
}

namespace {

using workload::DeepseekOcr;
using workload::ImageViews;

/// The pixels of view `k` according to kPattern: [3, side, side].
at::Tensor view_pixels(std::int64_t side, std::int64_t k) {
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor c = at::arange(3, wide).view({3, 1, 1});
  const at::Tensor i = at::arange(side, wide).view({1, side, 1});
  const at::Tensor j = at::arange(side, wide).view({1, 1, side});
  const at::Tensor rows = at::sin(0.011 * (c + 1) * (i + 1 + 37 * k));
  return (rows * at::cos(0.017 * (j + 1 + 11 * c))).to(at::kFloat);
}

ImageViews make_views(const Case& one) {
  ImageViews views;
  views.page = view_pixels(one.global_size, 0).unsqueeze(0);
  views.grid = {one.grid_wh[0], one.grid_wh[1]};
  if (one.local) {
    std::vector<at::Tensor> tiles;
    for (std::int64_t k = 1; k <= one.local->front(); ++k) {
      tiles.push_back(view_pixels(one.local->back(), k));
    }
    views.tiles = at::stack(tiles);
  }
  return views;
}

tokenizer::Prompt make_prompt(const Case& one, std::int64_t slots) {
  tokenizer::Prompt prompt;
  const auto add = [&](const std::vector<std::int64_t>& ids, std::uint8_t is_image) {
    prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
    prompt.is_image.insert(prompt.is_image.end(), ids.size(), is_image);
  };
  add(one.ids_before, 0);
  // The id in a slot does not matter: its embedding is replaced.
  add(std::vector<std::int64_t>(static_cast<std::size_t>(slots), 0), 1);
  add(one.ids_after, 0);
  return prompt;
}

Result<void> check_ids(const Case& one, const tokenizer::Prompt& prompt, std::int64_t vocabulary) {
  if (static_cast<std::int64_t>(prompt.ids.size()) != one.seq_len) {
    return Error(ErrorKind::Parse, fmt::format("seq_len is {}, but ids and image slots are {}",
                                               one.seq_len, prompt.ids.size()));
  }
  for (const auto* ids : {&prompt.ids, &one.greedy_ids}) {
    const std::int64_t largest = *std::max_element(ids->begin(), ids->end());
    if (largest < vocabulary) continue;
    return Error(ErrorKind::Parse,
                 fmt::format("id {} is outside of the vocabulary of {}", largest, vocabulary));
  }
  return {};
}

at::Tensor on_cpu(const at::Tensor& tensor) {
  return tensor.to(at::kCPU, at::kFloat);
}

at::Tensor as_tensor(const std::vector<std::int64_t>& ids) {
  return at::tensor(ids, at::kLong);
}

/// Runs the towers and keeps the output of each under `prefix`.
void encode(const DeepseekOcr& model, const at::Tensor& views, const std::string& prefix,
            std::map<std::string, at::Tensor>& computed) {
  const at::Tensor sam = model.sam(views);
  const at::Tensor clip = model.clip(sam);
  const at::Tensor rows = model.project(clip, sam);
  computed[prefix + "sam"] = on_cpu(sam);
  computed[prefix + "clip"] = on_cpu(clip);
  computed[prefix + "proj"] = on_cpu(rows);
}

/// The towers' outputs come from the model, the picture's rows from the engine.
at::Tensor encode_image(workload::Engine& engine, const Case& one,
                        std::map<std::string, at::Tensor>& computed) {
  const ImageViews views = make_views(one);
  if (views.tiles.defined()) {
    encode(engine.model(), views.tiles, one.name + ".local_", computed);
  }
  encode(engine.model(), views.page, one.name + ".", computed);
  workload::Scopes scopes;
  at::Tensor rows = engine.encode_image(views, scopes);
  computed[one.name + ".image_tokens"] = on_cpu(rows);
  return rows;
}

/// The prompt, then the reference's ids one by one: logits and the ids they would choose.
void run_forced(workload::Engine& engine, const Case& one, const tokenizer::Prompt& prompt,
                const at::Tensor& rows, std::map<std::string, at::Tensor>& computed) {
  const auto capacity = static_cast<std::int64_t>(prompt.ids.size() + one.greedy_ids.size());
  const at::Tensor prefill = engine.prefill(prompt, rows, capacity).clone();
  std::vector<at::Tensor> steps;
  for (const std::int64_t id : one.greedy_ids) {
    steps.push_back(engine.decode(as_tensor({id}).to(prefill.device())).clone());
  }
  const at::Tensor decode = at::cat(steps);
  computed[one.name + ".prefill_logits"] = on_cpu(prefill).squeeze(0);
  computed[one.name + ".decode_logits"] = on_cpu(decode);
  computed[one.name + ".forced_ids"] = at::cat({prefill, decode}).argmax(-1).cpu();
}

Result<void> run_free(workload::Engine& engine, const Case& one, const tokenizer::Prompt& prompt,
                      const at::Tensor& rows, std::map<std::string, at::Tensor>& computed) {
  workload::GenerationOptions options;
  options.max_new_tokens = static_cast<std::int64_t>(one.greedy_ids.size());
  workload::Scopes scopes;
  const auto generated =
      PL_TRY(workload::generate_from_rows(engine, rows, prompt, options, scopes));
  computed[one.name + ".greedy_ids"] = as_tensor(generated.ids);
  return {};
}

std::vector<std::int64_t> ids_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<std::int64_t>(), tensor.data_ptr<std::int64_t>() + tensor.numel()};
}

/// After the first id that differs, a free run diverges.
IdDifferences compare_free_run(const std::vector<std::int64_t>& computed,
                               const std::vector<std::int64_t>& reference,
                               std::vector<double> margin) {
  const auto first = std::mismatch(computed.begin(), computed.end(), reference.begin()).first;
  const auto shared = static_cast<std::size_t>(first - computed.begin());
  margin.resize(std::min(margin.size(), shared + 1));
  return compare_ids(computed, reference, margin);
}

Result<void> compare_tensors(const std::string& name, const Reference& reference,
                             Outcome& outcome) {
  struct Wanted {
    const char* name;
    std::optional<double> limit;
  };
  const Wanted wanted[] = {{"sam", {}},
                           {"clip", {}},
                           {"proj", {}},
                           {"image_tokens", kImageTokensLimit},
                           {"prefill_logits", kLogitsLimit},
                           {"decode_logits", kLogitsLimit}};
  for (const Wanted& one : wanted) {
    const std::string full = name + "." + one.name;
    outcome.tensors.push_back(
        PL_TRY(reference.compare(full, outcome.computed.at(full), one.limit)));
  }
  return {};
}

}  // namespace

bool Outcome::passes() const {
  return forced.wrong.empty() && running.wrong.empty() &&
         std::all_of(tensors.begin(), tensors.end(),
                     [](const Difference& tensor) { return tensor.passes(); });
}

Result<Outcome> run_case(const Case& one, workload::Engine& engine, const Reference& reference) {
  return workload::catch_torch([&]() -> Result<Outcome> {
           Outcome outcome;
           const at::Tensor rows = encode_image(engine, one, outcome.computed);
           const tokenizer::Prompt prompt = make_prompt(one, rows.size(0));
           PL_TRY(check_ids(one, prompt, engine.model().config().vocab_size));
           run_forced(engine, one, prompt, rows, outcome.computed);
           PL_TRY(run_free(engine, one, prompt, rows, outcome.computed));
           PL_TRY(compare_tensors(one.name, reference, outcome));

           // The reference chose its first id from the prompt's logits and each further one from a
           // step's.
           const at::Tensor first = PL_TRY(reference.tensor(one.name + ".prefill_logits"));
           const at::Tensor further = PL_TRY(reference.tensor(one.name + ".decode_logits"));
           const std::vector<double> margin = margins(at::cat({first.unsqueeze(0), further}));
           outcome.forced = compare_ids(ids_of(outcome.computed.at(one.name + ".forced_ids")),
                                        one.greedy_ids, margin);
           outcome.running = compare_free_run(ids_of(outcome.computed.at(one.name + ".greedy_ids")),
                                              one.greedy_ids, margin);
           return outcome;
         })
      .during("case " + one.name);
}

}  // namespace profline::parity
