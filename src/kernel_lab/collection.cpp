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

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

Result<settings::NcuCli> read_preset(const Node& tree) {
  const Node* const inner = tree.find("ncu_cli");
  const Node& preset = inner == nullptr ? tree : *inner;
  settings::NcuCli cli = PL_TRY(schema::read<settings::NcuCli>(preset, inner ? "ncu_cli" : ""));
  if (preset.find("set") == nullptr) cli.set.reset();
  if (preset.find("metrics") == nullptr) cli.metrics.reset();
  if (preset.find("sections") == nullptr) cli.sections.reset();
  for (const char* key : {"kernel_name", "launch_skip", "launch_count"}) {
    const Node* const value = preset.find(key);
    if (value == nullptr || value->is_null()) continue;
    return Error(ErrorKind::Config,
                 std::string(key) +
                     ": must be null, because --kernel-config, --kernel-regex and "
                     "--num-kernel-call-* say which launches",
                 value->position());
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
  settings.max_launches.reset();
  settings::NcuCli& cli = settings.ncu_cli;
  if (wish.preset) {
    cli = *wish.preset;
  } else {
    cli.set.reset();
    cli.metrics.reset();
    cli.sections.emplace();
    cli.sections->items.assign(std::begin(kDefaultSections), std::end(kDefaultSections));
  }
  cli.kernel_name_base = settings::KernelNameBase::Demangled;
  cli.force_overwrite = true;  // what is finished is kept by whoever runs this, see run_lab.h
  if (!wish.nvtx_include.empty()) cli.nvtx.include = schema::SemicolonList{wish.nvtx_include};
  if (wish.clock_control) cli.clock_control = wish.clock_control;
  std::vector<std::string> sections =
      cli.sections ? cli.sections->items : std::vector<std::string>();
  std::vector<std::string> metrics = cli.metrics ? cli.metrics->items : std::vector<std::string>();
  for (const std::string& section : wish.extra_sections) add_once(sections, section);
  if (wish.roofline) {
    add_once(sections, kRooflineSection);
    for (const std::string& counter : roofline_counters(ncu)) add_once(metrics, counter);
  }
  if (!sections.empty()) cli.sections = schema::CommaList{std::move(sections)};
  if (!metrics.empty()) cli.metrics = schema::CommaList{std::move(metrics)};
  return settings;
}

}  // namespace profline::kernel_lab
