#include <algorithm>
#include <span>

#include "analysis/static_model/deepseek_ocr.h"
#include "analysis/static_model/program_model.h"
#include "base/figures.h"
#include "base/files.h"
#include "formats/json.h"
#include "inputs/images/views.h"
#include "summary/internal/parts.h"

namespace profline::summary {
namespace {

namespace ocr = settings::deepseek_ocr;
using static_model::ModelPhase;
using static_model::PhaseCost;

/// The unit that the cost of Decode refers to.
enum class Decode { OneStep, AllSteps };

void add(std::optional<double>& sum, const std::optional<double>& more, bool is_first) {
  if (is_first) sum = 0;
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

/// `measured ceilings of NVIDIA H200`
std::string words_of(const settings::Ceilings& ceilings) {
  if (ceilings.is_measured && ceilings.device.empty()) return "ceilings of this CPU, measured";
  if (ceilings.device.empty()) return "ceilings of this device, as given";
  if (ceilings.is_given) return "ceilings of " + ceilings.device + ", as given";
  return (ceilings.is_measured ? "measured ceilings of " : "datasheet ceilings of ") +
         ceilings.device;
}

class Costs {
 public:
  Costs(const run::Run& run, const requests::PhaseTree& tree, const requests::SteadyPart& steady)
      : run_(run), tree_(tree), steady_(steady) {}

  MeasuredCosts run() {
    if (!static_costs_) {
      result_.why_not = why_no_static_costs();
      return std::move(result_);
    }
    if (!baseline_) {
      result_.why_not = baseline_.file + " " + baseline_.why_not;
      return std::move(result_);
    }
    choose_ceilings();
    if (!by_request() && !by_program()) by_static_shapes();
    return std::move(result_);
  }

 private:
  void choose_ceilings();
  std::string why_no_static_costs() const;
  bool by_request();
  bool by_program();
  std::optional<Node> users_config() const;
  void add_program_requests(const static_model::ProgramModel& model);
  void by_static_shapes();
  std::optional<DeepseekOcrConfig> model_config(const ocr::Model& model);
  bool add_request(const DeepseekOcrConfig& config, const ocr::Preprocess& preprocess,
                   const Request& request);
  const requests::PhaseInfo* phase_of(ModelPhase stage) const;
  void add_cost(const PhaseCost& cost, const Request& request, Decode decode);
  const static_model::NumberFormat& format() const { return static_costs_->format; }

  const run::Run& run_;
  const run::Artifact<run::Requests>& baseline_ = run_.baseline();
  const run::Artifact<settings::Root>& settings_ = run_.get(run::kSettings);
  const run::Artifact<Node>& metrics_ = run_.get(run::kMetrics);
  const run::Artifact<run::InputSizes>& inputs_ = run_.get(run::kInputSizes);
  const run::Artifact<StaticCosts>& static_costs_ = run_.get(kStaticCosts);
  const run::Artifact<RecordedModels>& models_ = run_.get(run::kRecordedModels);
  const requests::PhaseTree& tree_;
  const requests::SteadyPart& steady_;
  settings::Ceilings ceilings_;
  MeasuredCosts result_;
};

void Costs::choose_ceilings() {
  ceilings_ = static_costs_->ceilings;
  result_.source = static_costs_.file;
  const auto measured = [&](const char* key) -> std::optional<double> {
    const Node* found = metrics_ ? metrics_->find_path(key) : nullptr;
    return found != nullptr && found->is_float() && found->as_float() > 0
               ? std::optional(found->as_float())
               : std::nullopt;
  };
  const auto bytes = measured("ceilings.copy_bytes_per_s");
  if (run_.record().device == "cpu" && bytes && !ceilings_.is_measured) {
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
    result_.source += ", " + metrics_.file;
  }
  result_.peak_operations_per_second = ceilings_.rate(format().cores, format().precision);
  if (!result_.peak_operations_per_second && !ceilings_.bytes_per_second) {
    result_.notes.push_back(
        "no floors and no utilisation: the ceilings of this device are not "
        "known (" +
        static_costs_.file + ")");
    return;
  }
  result_.peak = ceilings_.peak_name();
  result_.words = words_of(ceilings_);
  result_.ceilings = ceilings_.device;
  if (!ceilings_.source.empty()) {
    result_.ceilings += result_.ceilings.empty() ? ceilings_.source : " (" + ceilings_.source + ")";
  }
}

std::optional<DeepseekOcrConfig> Costs::model_config(const ocr::Model& model) {
  if (model.init == ocr::Init::Random) {
    return model.variant == ocr::Variant::Tiny ? tiny_config() : official_config();
  }
  const std::filesystem::path cwd = run_.record().command_line.cwd;
  auto config = load_deepseek_ocr_config(cwd / model.path.value_or("") / "config.json");
  if (config) return *config;
  return std::nullopt;
}

/// The phase of the requests whose time the static cost of a model's phase is compared with; null:
/// there is no such phase.
const requests::PhaseInfo* Costs::phase_of(ModelPhase stage) const {
  for (const std::string_view name : static_model::phase_names(stage)) {
    const requests::PhaseInfo* const phase = tree_.find(name);
    if (phase != nullptr && !phase->has_parts) return phase;
  }
  return nullptr;
}

void Costs::add_cost(const PhaseCost& cost, const Request& request, Decode decode) {
  const requests::PhaseInfo* const phase = phase_of(cost.phase);
  if (phase == nullptr) return;
  const auto index = static_cast<std::size_t>(&request - baseline_->data());
  const requests::PhaseTime time = steady_.time(index, phase->path);
  if (time.units == 0) return;
  const double measured = requests::phase_time(request, phase->path).units;
  const double times = decode == Decode::OneStep ? time.units : time.units / measured;
  auto entry =
      std::find_if(result_.entries.begin(), result_.entries.end(),
                   [&](const MeasuredCosts::Entry& known) { return known.phase == phase->name; });
  const bool is_first = entry == result_.entries.end();
  if (is_first) entry = result_.entries.insert(entry, {phase->name, {}});
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
  sum.cache_bytes += total.cache_bytes().as_double() * times;
  add(sum.compute_ns, scaled(floor.compute_ns), is_first);
  add(sum.memory_ns, scaled(floor.memory_ns), is_first);
  add(sum.floor_ns, scaled(floor.floor_ns), is_first);
}

/// The shapes of a request: the views of all its images, and the tokens of each.
struct Shapes {
  std::vector<static_model::ViewBatch> views = {};
  static_model::Request request = {};
};

/// Nothing if they are not known.
std::optional<Shapes> shapes_of(const Request& request, const ocr::Preprocess& preprocess,
                                const run::InputSizes& inputs) {
  const std::vector<std::string> images = request.images();
  const bool is_batch = images.size() > 1;
  std::vector<std::uint64_t> prompts = {request.prompt_tokens.value_or(0)};
  std::vector<std::uint64_t> made = {request.new_tokens.value_or(0)};
  if (is_batch) {
    prompts = request.counts(kPromptTokensEachAttribute);
    made = request.counts(kNewTokensEachAttribute);
  }
  if (prompts.size() != images.size() || made.size() != images.size()) return std::nullopt;
  Shapes shapes;
  static_model::ViewBatch tiles{0, 0};
  static_model::ViewBatch pages{0, 0};
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto size = inputs.find(images[i]);
    if (size == inputs.end()) return std::nullopt;
    const images::ViewPlan plan =
        images::plan_views({size->second.width, size->second.height}, preprocess);
    if (plan.slots >= prompts[i]) return std::nullopt;
    if (plan.grid.is_tiled()) tiles = {plan.tile_side, tiles.views + plan.grid.tiles()};
    pages = {plan.global_side, pages.views + 1};
    const std::uint64_t new_tokens = std::max<std::uint64_t>(made[i], 1);
    shapes.request.prompt_tokens = std::max(shapes.request.prompt_tokens, prompts[i]);
    shapes.request.new_tokens = std::max(shapes.request.new_tokens, new_tokens);
    if (is_batch) shapes.request.sequences.push_back({prompts[i], new_tokens});
  }
  if (tiles.views > 0) shapes.views.push_back(tiles);
  shapes.views.push_back(pages);
  shapes.request.batch =
      is_batch ? images.size() : std::max<std::uint64_t>(request.batch.value_or(1), 1);
  return shapes;
}

/// False if the request's shapes are not known.
bool Costs::add_request(const DeepseekOcrConfig& config, const ocr::Preprocess& preprocess,
                        const Request& request) {
  const auto shapes = shapes_of(request, preprocess, *inputs_);
  if (!shapes) return false;
  const static_model::ModelCost cost =
      static_model::deepseek_ocr_cost(config, format(), shapes->views, shapes->request);
  for (const PhaseCost& stage : cost.phases) {
    if (stage.phase != ModelPhase::Decode) add_cost(stage, request, Decode::AllSteps);
  }
  if (cost.all_decode_steps) add_cost(*cost.all_decode_steps, request, Decode::AllSteps);
  return true;
}

bool Costs::by_request() {
  const auto* subject = settings_ ? std::get_if<ocr::Subject>(&settings_->subject) : nullptr;
  if (subject == nullptr || !subject->model.preprocess.enable || !inputs_) return false;
  const auto config = model_config(subject->model);
  if (!config) return false;
  for (const Request& request : *baseline_) {
    if (add_request(*config, subject->model.preprocess, request)) continue;
    result_.entries.clear();
    return false;
  }
  if (result_.entries.empty()) return false;
  result_.shapes = "each image's own";
  result_.source += ", " + inputs_.file;
  return true;
}

/// A stage that was skipped says why better than the missing file does.
std::string Costs::why_no_static_costs() const {
  const StageRecord* const stage = run_.record().find_stage(run::stages::kStaticAnalysis);
  if (!static_costs_.is_there && stage != nullptr && stage->state == StageState::Skipped) {
    for (const Finding& finding : stage->findings) {
      if (finding.severity == Severity::Problem) return finding.text;
    }
  }
  return static_costs_.file + " " + static_costs_.why_not;
}

/// The requests whose prompts were partly in the cache already.
struct CacheReuse {
  std::size_t requests = 0;
  double tokens = 0;  ///< per sequence, of all these requests

  void add(const static_model::Request& shapes) {
    if (shapes.cached_tokens == 0) return;
    ++requests;
    tokens += static_cast<double>(shapes.cached_tokens);
  }
  std::string note(std::size_t of) const {
    return std::to_string(requests) + " of " + counted(of, "request") +
           " reused cached prompt tokens, " + plain_number(tokens / static_cast<double>(requests)) +
           " on average: the floor of prefill counts only the tokens that it computed";
  }
};

void Costs::add_program_requests(const static_model::ProgramModel& model) {
  std::size_t counted_requests = 0;
  CacheReuse reuse;
  for (const Request& request : *baseline_) {
    const auto shapes = static_model::shapes_of(request);
    if (!shapes || !model.is_used_by(request)) continue;
    ++counted_requests;
    reuse.add(*shapes);
    const static_model::ModelCost cost =
        static_model::decoder_cost(model.decoder, model.format, *shapes);
    for (const PhaseCost& phase : cost.phases) {
      if (phase.phase != ModelPhase::Decode) add_cost(phase, request, Decode::AllSteps);
    }
    if (cost.all_decode_steps) add_cost(*cost.all_decode_steps, request, Decode::AllSteps);
  }
  if (result_.entries.empty()) {
    result_.why_not = "no request has a known prompt and one generated token per step and sequence";
    return;
  }
  result_.shapes = counted_requests == baseline_->size()
                       ? "each request's own"
                       : "each request's own: " + std::to_string(counted_requests) + " of " +
                             counted(baseline_->size(), "request");
  if (models_) result_.source += ", " + models_.file;
  if (reuse.requests > 0) result_.notes.push_back(reuse.note(counted_requests));
}

/// The config.json that the user named for the program's model. Nothing if no file was named, or it
/// cannot be read any more.
std::optional<Node> Costs::users_config() const {
  const auto* subject =
      settings_ ? std::get_if<settings::program::Subject>(&settings_->subject) : nullptr;
  if (subject == nullptr || !subject->model.config) return std::nullopt;
  const std::filesystem::path cwd = run_.record().command_line.cwd;
  const auto text = read_file(cwd / *subject->model.config);
  if (!text) return std::nullopt;
  auto config = parse_json(*text, subject->model.config->string());
  return config ? std::optional(std::move(config).value()) : std::nullopt;
}

/// The model of a user's program, with the shapes of each of its requests. False if the run has no
/// such model.
bool Costs::by_program() {
  const std::optional<Node> config = users_config();
  if (!models_ && !config) return false;
  const auto recorded =
      models_ ? std::span<const RecordedModel>(models_->models) : std::span<const RecordedModel>();
  const auto model =
      static_model::model_of_program(recorded, *baseline_, config ? &*config : nullptr);
  if (!model) {
    result_.why_not = model.error().message();
  } else if (const std::string why = model->floors_withheld(); !why.empty()) {
    result_.why_not = why;
  } else {
    add_program_requests(*model);
  }
  return true;
}

void Costs::by_static_shapes() {
  const StaticCosts& costs = *static_costs_;
  std::size_t fitting = 0;
  for (const Request& request : *baseline_) {
    if (request.prompt_tokens != costs.prompt_tokens) continue;
    if (request.batch.value_or(1) != costs.batch) continue;
    ++fitting;
    for (const PhaseCost& stage : costs.phases) add_cost(stage, request, Decode::OneStep);
  }
  if (fitting == 0) {
    result_.why_not = static_costs_.file + " is of " +
                      counted(costs.prompt_tokens, "prompt token") + ", and no request has as many";
    return;
  }
  result_.shapes = costs.shapes_from + ", " + counted(costs.prompt_tokens, "prompt token") + ": " +
                   std::to_string(fitting) + " of " + counted(baseline_->size(), "request");
}

}  // namespace

const WorkCost* MeasuredCosts::find(std::string_view phase) const {
  for (const Entry& entry : entries) {
    if (entry.phase == phase) return &entry.cost;
  }
  return nullptr;
}

MeasuredCosts measured_costs(const run::Run& run, const requests::PhaseTree& tree,
                             const requests::SteadyPart& steady) {
  return Costs(run, tree, steady).run();
}

}  // namespace profline::summary
