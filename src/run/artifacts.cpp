#include "run/artifacts.h"

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/document.h"
#include "schema/read.h"
#include "tools/torch_profiler/trace.h"

namespace profline::run {
namespace {

/// One of our JSON documents, read into a struct with a field list.
template <typename T>
Result<T> read_document(const std::filesystem::path& file) {
  return from_document<T>(PL_TRY(read_file(file)), file.string());
}

Result<Node> read_body(const std::filesystem::path& file, const DocumentKind& kind) {
  return parse_document(PL_TRY(read_file(file)), kind, file.string());
}

/// The tree of a file that is also read as a tree.
Result<Node> content_of(const Artifact<Node>& tree) {
  if (!tree) return Error(ErrorKind::Parse, tree.why_not);
  return *tree;
}

std::optional<double> figure(const Node& line, std::string_view key, double scale) {
  const Node* const value = line.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_int()) return static_cast<double>(value->as_int()) * scale;
  if (value->is_float()) return value->as_float() * scale;
  return std::nullopt;
}

bool is_size(const Node* node) {
  constexpr std::int64_t kMost = 1 << 24;
  return node != nullptr && node->is_int() && node->as_int() > 0 && node->as_int() < kMost;
}

}  // namespace

Result<GpuReadings> parse_gpu_readings(std::string_view text, const std::string& source) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  GpuReadings readings;
  std::optional<double> origin_ns;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    auto parsed = parse_json(line, source);
    if (!parsed) {
      return std::move(parsed).error().during("line " + std::to_string(number));
    }
    const std::optional<double> at_ns = figure(*parsed, "at_ns", 1);
    if (!at_ns) {
      return Error(ErrorKind::Parse,
                   source + ": line " + std::to_string(number) + ": no number 'at_ns'");
    }
    if (!origin_ns) origin_ns = at_ns;
    GpuReading reading;
    reading.at_s = (*at_ns - *origin_ns) * 1e-9;
    reading.sm_clock_mhz = figure(*parsed, "sm_clock_mhz", 1);
    reading.memory_clock_mhz = figure(*parsed, "memory_clock_mhz", 1);
    reading.power_w = figure(*parsed, "power_mw", 1e-3);
    reading.instant_power_w = figure(*parsed, "power_instant_mw", 1e-3);
    reading.energy_j = figure(*parsed, "energy_mj", 1e-3);
    if (const Node* at = parsed->find("monotonic_ns"); at != nullptr && at->is_int()) {
      reading.monotonic_ns = at->as_int();
    }
    reading.temperature_c = figure(*parsed, "temperature_c", 1);
    reading.utilisation_pct = figure(*parsed, "gpu_utilisation_pct", 1);
    reading.memory_gib = figure(*parsed, "memory_used_bytes", 1 / kGiB);
    reading.throttle_reasons =
        static_cast<std::uint64_t>(figure(*parsed, "throttle_reasons", 1).value_or(0));
    readings.push_back(reading);
  }
  return readings;
}

std::string text_at(const Node& tree, std::string_view path) {
  const Node* found = tree.find_path(path);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

const Node* gpu_facts(const Run& run) {
  // Not through Environment: a run of another version may have other keys.
  const Artifact<Node>& environment = run.get(kEnvironmentTree);
  const Node* gpus = environment ? environment->find("gpus") : nullptr;
  if (gpus == nullptr || !gpus->is_list()) return nullptr;
  for (const Node& gpu : gpus->as_list()) {
    const Node* index = gpu.find("index");
    const bool is_it = index != nullptr && index->is_int() &&
                       run.record().device == "cuda:" + std::to_string(index->as_int());
    if (is_it) return &gpu;
  }
  return nullptr;
}

std::string device_name(const Run& run) {
  const Artifact<Node>& environment = run.get(kEnvironmentTree);
  if (!environment) return "";
  if (!run.record().device.starts_with("cuda:")) return text_at(*environment, "cpu.model");
  const Node* const gpu = gpu_facts(run);
  return gpu != nullptr ? text_at(*gpu, "name") : "";
}

const Artifact<Requests>& load_requests(const Run& run) {
  const bool is_baselines = !run.has(files::kLoad) && run.has(paths::kBaselineLoad);
  return run.requests(is_baselines ? paths::kBaselineLoadFolder : "");
}

GpuReadings measured_readings(const Run& run) {
  const auto& readings = run.get(kGpuReadings);
  if (!readings) return {};
  const auto& repeated = run.get(kRepeatedPhases);
  if (!repeated || repeated->phases.empty()) return *readings;
  std::int64_t end_ns = repeated->phases.front().begin_ns;
  for (const RepeatedPhase& phase : repeated->phases) end_ns = std::min(end_ns, phase.begin_ns);
  GpuReadings measured;
  for (const GpuReading& reading : *readings) {
    if (reading.monotonic_ns.value_or(0) < end_ns) measured.push_back(reading);
  }
  return measured;
}

const Artifact<Node>& workload_inputs(const Run& run, std::string_view stage) {
  const std::string file = (std::filesystem::path(stage) / files::kReadInputs).string();
  return run.get(ArtifactName<Node>{file, internal::read_json_tree});
}

namespace internal {

Result<Node> read_json_tree(const Run&, const Path& file) {
  return parse_json(PL_TRY(read_file(file)), file.string());
}

Result<Node> read_yaml_tree(const Run&, const Path& file) {
  return parse_yaml(PL_TRY(read_file(file)), file.string());
}

Result<settings::Root> read_settings(const Run& run, const Path&) {
  Node config = PL_TRY(content_of(run.get(kConfig)));
  if (config.is_map()) config.as_map().erase("schema");
  return settings::read_settings(config);
}

Result<settings::KernelClasses> read_kernel_classes(const Run&, const Path& file) {
  const std::string text = PL_TRY(read_file(file));
  return settings::read_kernel_classes(
      PL_TRY(parse_document(text, {"kernel_classes", 1}, file.string())));
}

Result<Environment> read_environment(const Run& run, const Path& file) {
  const Node tree = PL_TRY(content_of(run.get(kEnvironmentTree)));
  return schema::read<Environment>(PL_TRY(document_body(tree, {"env", 1}, file.string())));
}

Result<Node> read_metrics(const Run&, const Path& file) {
  return read_body(file, {"metrics", 1});
}

Result<Node> read_process(const Run&, const Path& file) {
  return read_body(file, {"process", 1});
}

Result<RecordedModels> read_recorded_models(const Run&, const Path& file) {
  return read_document<RecordedModels>(file);
}

Result<ProgramRanges> read_recorded_ranges(const Run&, const Path& file) {
  return read_document<ProgramRanges>(file);
}

Result<SteadyWindow> read_steady_window(const Run&, const Path& file) {
  return read_document<SteadyWindow>(file);
}

Result<LoadRecord> read_load(const Run&, const Path& file) {
  return read_document<LoadRecord>(file);
}

Result<ServerRecord> read_server(const Run&, const Path& file) {
  return read_document<ServerRecord>(file);
}

Result<InputSizes> read_input_sizes(const Run& run, const Path& file) {
  const Node tree = PL_TRY(content_of(workload_inputs(run, stages::kBaseline)));
  const Node document = PL_TRY(document_body(tree, {"inputs", 1}, file.string()));
  InputSizes sizes;
  const Node* images = document.find("images");
  if (images == nullptr || !images->is_list()) return sizes;
  for (const Node& image : images->as_list()) {
    const Node* name = image.find("image");
    const Node* width = image.find("width");
    const Node* height = image.find("height");
    if (name == nullptr || !name->is_string() || !is_size(width) || !is_size(height)) continue;
    sizes[name->as_string()] = {static_cast<std::uint32_t>(width->as_int()),
                                static_cast<std::uint32_t>(height->as_int())};
  }
  return sizes;
}

Result<GpuReadings> read_gpu_readings(const Run&, const Path& file) {
  return parse_gpu_readings(PL_TRY(read_file(file)), file.string());
}

Result<RunCeilings> read_run_ceilings(const Run&, const Path& file) {
  return read_document<RunCeilings>(file);
}

Result<RepeatedPhases> read_repeated_phases(const Run&, const Path& file) {
  return read_document<RepeatedPhases>(file);
}

Result<TorchOperators> read_torch_operators(const Run&, const Path& file) {
  return read_document<TorchOperators>(file);
}

Result<Timeline> read_torch_trace(const Run&, const Path& file) {
  return torch_profiler::read_trace(file);
}

Result<NsysRanges> read_nsys_ranges(const Run&, const Path& file) {
  return read_document<NsysRanges>(file);
}

Result<NsysKernels> read_nsys_kernels(const Run&, const Path& file) {
  return read_document<NsysKernels>(file);
}

Result<NcuKernels> read_ncu_kernels(const Run&, const Path& file) {
  return read_document<NcuKernels>(file);
}

Result<Ranks> read_ranks(const Run&, const Path& file) {
  return read_document<Ranks>(file);
}

Result<RankAnalysis> read_rank_analysis(const Run&, const Path& file) {
  return read_document<RankAnalysis>(file);
}

}  // namespace internal
}  // namespace profline::run
