#include "summary/measured_costs.h"

#include <algorithm>

#include "analysis/static_model/deepseek_ocr.h"
#include "base/figures.h"
#include "inputs/images/views.h"
#include "summary/stage_times.h"

namespace profline::summary {
namespace {

namespace ocr = settings::deepseek_ocr;
using static_model::Stage;
using static_model::StageCost;

struct NamedStage {
  Stage stage;
  const char* name;  ///< of samples and ranges
};
constexpr NamedStage kStages[] = {{Stage::Sam, "sam"},
                                  {Stage::Clip, "clip"},
                                  {Stage::Projector, "projector"},
                                  {Stage::Prefill, "lm"},
                                  {Stage::Decode, "decode"}};

void add(std::optional<double>& sum, const std::optional<double>& more, bool is_first) {
  if (is_first) sum = 0;
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

class Costs {
 public:
  explicit Costs(const RunArtifacts& run) : run_(run) {}

  MeasuredCosts run() {
    if (!run_.static_costs) {
      result_.why_not = run_.static_costs.file + " " + run_.static_costs.why_not;
      return std::move(result_);
    }
    if (!run_.baseline) {
      result_.why_not = run_.baseline.file + " " + run_.baseline.why_not;
      return std::move(result_);
    }
    choose_ceilings();
    if (!by_sample()) by_static_shapes();
    return std::move(result_);
  }

 private:
  void choose_ceilings();
  bool by_sample();
  void by_static_shapes();
  std::optional<DeepseekOcrConfig> model_config(const ocr::Model& model);
  bool add_sample(const DeepseekOcrConfig& config, const ocr::Preprocess& preprocess,
                  const Sample& sample);
  void add_cost(const char* stage, const StageCost& cost, const Sample& sample, double times);
  const static_model::NumberFormat& format() const { return run_.static_costs->format; }

  const RunArtifacts& run_;
  settings::Ceilings ceilings_;
  MeasuredCosts result_;
};

void Costs::choose_ceilings() {
  ceilings_ = run_.static_costs->ceilings;
  result_.source = run_.static_costs.file;
  const auto measured = [&](const char* key) -> std::optional<double> {
    const Node* found = run_.metrics ? run_.metrics->find_path(key) : nullptr;
    return found != nullptr && found->is_float() && found->as_float() > 0
               ? std::optional(found->as_float())
               : std::nullopt;
  };
  const auto bytes = measured("ceilings.copy_bytes_per_s");
  if (run_.run.device == "cpu" && bytes) {
    ceilings_ = {};
    ceilings_.is_measured = true;
    ceilings_.source = "measured on this CPU";
    ceilings_.bytes_per_second = bytes;
    if (format().name == "fp32") {
      ceilings_.peak_operations_per_second = measured("ceilings.fp32_gemm_flops_per_s");
    } else {
      result_.notes.push_back(
          "no compute ceiling: this CPU's was measured in fp32, and the model "
          "runs in " +
          format().name);
    }
    result_.source += ", " + run_.metrics.file;
  }
  result_.peak_operations_per_second = ceilings_.rate(format().cores, format().precision);
  if (!result_.peak_operations_per_second && !ceilings_.bytes_per_second) {
    result_.notes.push_back(
        "no floors and no utilisation: the ceilings of this device are not "
        "known (" +
        run_.static_costs.file + ")");
    return;
  }
  result_.device = ceilings_.is_measured      ? "this CPU, measured"
                   : ceilings_.device.empty() ? "this device, as given"
                                              : ceilings_.device;
  result_.ceilings = ceilings_.device;
  if (!ceilings_.source.empty()) {
    result_.ceilings += result_.ceilings.empty() ? ceilings_.source : " (" + ceilings_.source + ")";
  }
}

std::optional<DeepseekOcrConfig> Costs::model_config(const ocr::Model& model) {
  if (model.init == ocr::Init::Random) {
    return model.variant == ocr::Variant::Tiny ? tiny_config() : official_config();
  }
  const std::filesystem::path cwd = run_.run.command_line.cwd;
  auto config = load_deepseek_ocr_config(cwd / model.path.value_or("") / "config.json");
  if (config) return *config;
  return std::nullopt;
}

void Costs::add_cost(const char* stage, const StageCost& cost, const Sample& sample, double times) {
  const StageTime time = stage_time(sample, stage);
  if (time.units == 0) return;
  auto entry =
      std::find_if(result_.entries.begin(), result_.entries.end(),
                   [&](const MeasuredCosts::Entry& known) { return known.stage == stage; });
  const bool is_first = entry == result_.entries.end();
  if (is_first) entry = result_.entries.insert(entry, {stage, {}});
  WorkCost& sum = entry->cost;
  const static_model::OperatorCost total = cost.total();
  const static_model::Floor floor = static_model::floor_of(cost, format(), ceilings_);
  const auto scaled = [&](const std::optional<double>& ns) {
    return ns ? std::optional(*ns * times) : std::nullopt;
  };
  sum.units += time.units;
  sum.measured_ns += time.ns;
  sum.flops += total.flops.as_double() * times;
  sum.bytes += total.floor_bytes().as_double() * times;
  add(sum.compute_ns, scaled(floor.compute_ns), is_first);
  add(sum.memory_ns, scaled(floor.memory_ns), is_first);
  add(sum.floor_ns, scaled(floor.floor_ns), is_first);
}

/// False when the sample's shapes cannot be told.
bool Costs::add_sample(const DeepseekOcrConfig& config, const ocr::Preprocess& preprocess,
                       const Sample& sample) {
  const auto size = run_.inputs->find(sample.image);
  if (size == run_.inputs->end()) return false;
  const images::ViewPlan plan =
      images::plan_views({size->second.width, size->second.height}, preprocess);
  if (plan.slots >= sample.prompt_tokens) return false;
  std::vector<static_model::ViewBatch> views;
  if (plan.grid.is_tiled()) views.push_back({plan.tile_side, plan.grid.tiles()});
  views.push_back({plan.global_side, 1});
  static_model::Request request;
  request.prompt_tokens = sample.prompt_tokens;
  request.new_tokens = std::max<std::uint64_t>(sample.new_tokens, 1);
  const static_model::ModelCost cost =
      static_model::deepseek_ocr_cost(config, format(), views, request);
  for (const NamedStage& named : kStages) {
    if (named.stage == Stage::Decode) continue;
    if (const StageCost* found = cost.find(named.stage)) add_cost(named.name, *found, sample, 1);
  }
  if (cost.all_decode_steps) add_cost("decode", *cost.all_decode_steps, sample, 1);
  return true;
}

bool Costs::by_sample() {
  const auto* subject =
      run_.settings ? std::get_if<ocr::Subject>(&run_.settings->subject) : nullptr;
  if (subject == nullptr || !subject->model.preprocess.enable || !run_.inputs) return false;
  const auto config = model_config(subject->model);
  if (!config) return false;
  for (const Sample& sample : *run_.baseline) {
    if (add_sample(*config, subject->model.preprocess, sample)) continue;
    result_.entries.clear();
    return false;
  }
  if (result_.entries.empty()) return false;
  result_.shapes = "each image's own";
  result_.source += ", " + run_.inputs.file;
  return true;
}

void Costs::by_static_shapes() {
  const StaticCosts& costs = *run_.static_costs;
  std::size_t images = 0;
  for (const Sample& sample : *run_.baseline) {
    if (sample.prompt_tokens != costs.prompt_tokens) continue;
    ++images;
    for (const NamedStage& named : kStages) {
      const StageCost* found = costs.find(named.stage);
      if (found == nullptr) continue;
      // Decode is of one step there.
      add_cost(named.name, *found, sample, stage_time(sample, named.name).units);
    }
  }
  if (images == 0) {
    result_.why_not = run_.static_costs.file + " is of " + std::to_string(costs.prompt_tokens) +
                      " prompt tokens, and no sample has as many";
    return;
  }
  result_.shapes = costs.shapes_from + ", " + counted(costs.prompt_tokens, "prompt token") + ": " +
                   std::to_string(images) + " of " + counted(run_.baseline->size(), "sample");
}

}  // namespace

const WorkCost* MeasuredCosts::find(std::string_view stage) const {
  for (const Entry& entry : entries) {
    if (entry.stage == stage) return &entry.cost;
  }
  return nullptr;
}

MeasuredCosts measured_costs(const RunArtifacts& run) {
  return Costs(run).run();
}

}  // namespace profline::summary
