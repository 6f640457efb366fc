#include "kernel_lab/collection.h"

#include <algorithm>

#include "schema/read.h"

namespace profline::kernel_lab {
namespace {

/// Where nobody asked this ncu what it counts.
constexpr const char* kUsualTensorCounters[] = {
    "sm__ops_path_tensor_src_bf16_dst_fp32", "sm__ops_path_tensor_src_fp16_dst_fp16",
    "sm__ops_path_tensor_src_fp16_dst_fp32", "sm__ops_path_tensor_src_tf32_dst_fp32"};

/// Sums over instructions and sparsity, which the releases and chips call differently.
std::vector<std::string> tensor_counters(const ncu::Installation& ncu) {
  constexpr std::string_view kPrefix = "sm__ops_path_tensor_src_";
  std::vector<std::string> counters;
  if (ncu.metrics.empty())
    counters.assign(std::begin(kUsualTensorCounters), std::end(kUsualTensorCounters));
  for (const std::string& name : ncu.metrics) {
    const bool is_part = name.find("_sparsity_") != std::string::npos;
    if (name.starts_with(kPrefix) && !is_part) counters.push_back(name);
  }
  return counters;
}

/// What the expressions of the lab match.
constexpr settings::KernelNameBase kNameBase = settings::KernelNameBase::Demangled;

/// Without a preset: the four sections of ncu.default, in every process.
settings::NcuCli default_cli() {
  settings::NcuCli cli;
  cli.target_processes = settings::TargetProcesses::All;
  cli.replay_mode = settings::ReplayMode::Kernel;
  cli.sections.emplace();
  cli.sections->items.assign(std::begin(kDefaultSections), std::end(kDefaultSections));
  return cli;
}

void add_ranges(const CollectionWish& wish, settings::NcuCli& cli) {
  if (wish.nvtx_include.empty()) return;
  std::vector<std::string> ranges = wish.nvtx_include;
  std::erase(ranges, "");
  cli.nvtx.include.reset();
  if (!ranges.empty()) cli.nvtx.include = schema::SemicolonList{std::move(ranges)};
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

Result<settings::NcuCli> read_preset(const Node& tree) {
  const Node* const inner = tree.find("ncu_cli");
  const Node& preset = inner == nullptr ? tree : *inner;
  settings::NcuCli cli = PL_TRY(schema::read<settings::NcuCli>(preset, inner ? "ncu_cli" : ""));
  for (const char* key : {"kernel_name", "launch_skip", "launch_count"}) {
    const Node* const value = preset.find(key);
    if (value == nullptr || value->is_null()) continue;
    return Error(ErrorKind::Config,
                 std::string(key) +
                     ": must be null, because --kernel-config, --kernel-regex and "
                     "--num-kernel-call-* say which launches",
                 value->position());
  }
  if (cli.kernel_name_base.value_or(kNameBase) != kNameBase) {
    return Error(ErrorKind::Config,
                 "kernel_name_base: must be demangled or null, because --kernel-config and "
                 "--kernel-regex are compared with demangled names",
                 preset.find("kernel_name_base")->position());
  }
  const bool is_of_ranges = cli.replay_mode == settings::ReplayMode::Range ||
                            cli.replay_mode == settings::ReplayMode::AppRange;
  if (is_of_ranges) {
    return Error(ErrorKind::Config,
                 "replay_mode: must be kernel or application; ranges are profiled by 'profline "
                 "run' with pipeline.ncu",
                 preset.find("replay_mode")->position());
  }
  return cli;
}

std::vector<std::string> roofline_counters(const ncu::Installation& ncu) {
  std::vector<std::string> counters = {"gpu__time_duration.sum", "dram__bytes_read.sum",
                                       "dram__bytes_write.sum"};
  for (const char precision : {'f', 'h', 'd'}) {
    for (const char* instruction : {"add", "mul", "fma"}) {
      counters.push_back(std::string("smsp__sass_thread_inst_executed_op_") + precision +
                         instruction + "_pred_on.sum");
    }
  }
  for (const std::string& name : tensor_counters(ncu)) counters.push_back(name + ".sum");
  std::erase_if(counters, [&](const std::string& name) { return !ncu.knows_metric(name); });
  return counters;
}

settings::Ncu capture_settings(const CollectionWish& wish, const ncu::Installation& ncu) {
  settings::Ncu settings;
  settings::NcuCli& cli = settings.ncu_cli;
  cli = wish.preset ? *wish.preset : default_cli();
  cli.kernel_name_base = kNameBase;
  cli.force_overwrite = true;  // finished captures are kept by run_lab()
  add_ranges(wish, cli);
  if (wish.clock_control) cli.clock_control = wish.clock_control;
  std::vector<std::string> sections =
      cli.sections ? cli.sections->items : std::vector<std::string>();
  std::vector<std::string> metrics = cli.metrics ? cli.metrics->items : std::vector<std::string>();
  for (const std::string& section : wish.extra_sections) add_once(sections, section);
  if (wish.roofline.value_or(!wish.preset)) {
    add_once(sections, kRooflineSection);
    for (const std::string& counter : roofline_counters(ncu)) add_once(metrics, counter);
  }
  if (!sections.empty()) cli.sections = schema::CommaList{std::move(sections)};
  if (!metrics.empty()) cli.metrics = schema::CommaList{std::move(metrics)};
  return settings;
}

}  // namespace profline::kernel_lab
