#include "settings/reference.h"

#include <algorithm>
#include <vector>

#include "schema/docs.h"
#include "settings/hardware.h"
#include "settings/kernel_classes.h"
#include "settings/root.h"

namespace profline::settings {
namespace {

using schema::describe;
using schema::FieldDoc;
using schema::reference_table;

constexpr ToolFlag kNsysFlags[] = {
    {"enable", "no flag: runs the stage"},
    {"gating_nvtx", "no flag: false leaves `--capture-range=nvtx` and what belongs to it out"},
    {"samples", "no flag: limits what the workload is given"},
    {"trace", "`--trace=<v>,<v>`"},
    {"sample", "`--sample=<v>`, and with none `--cpuctxsw=none`"},
    {"capture_range",
     "`--capture-range=<v>`; none: not passed; nvtx: also `NSYS_NVTX_PROFILER_REGISTER_ONLY=0`"},
    {"capture_range_end", "`--capture-range-end=<v>`, with a capture range"},
    {"nvtx_capture", "`--nvtx-capture=<v>`, with `--capture-range=nvtx`; a list: one run each"},
    {"nvtx_domain_include", "`--nvtx-domain-include=<v>,<v>`"},
    {"nvtx_domain_exclude", "`--nvtx-domain-exclude=<v>,<v>`"},
    {"cuda_graph_trace", "`--cuda-graph-trace=<v>`"},
    {"timeout", "no flag: the stage is stopped by profline"},
};

constexpr ToolFlag kNcuFlags[] = {
    {"target_processes", "`--target-processes <v>`"},
    {"replay_mode", "`--replay-mode <v>`"},
    {"nvtx.include",
     "`--nvtx-include <v>` for each; decode becomes `decode/`, decode\\* `regex:decode.*/`, "
     "A::A1 `A/*/A1`; only if gating_nvtx"},
    {"set", "`--set <v>`"},
    {"metrics",
     "`--metrics <v>,<v>`, those that the installed ncu knows; flop_count_sp becomes its fadd, "
     "fmul and ffma counters"},
    {"sections", "`--section <v>` for each that the installed ncu has"},
    {"kernel_name_base", "`--kernel-name-base <v>`, with kernel_name"},
    {"kernel_name", "`--kernel-name <v>`"},
    {"launch_skip", "`--launch-skip <v>`"},
    {"launch_count", "`--launch-count <v>`"},
    {"clock_control", "`--clock-control <v>`"},
    {"cache_control", "`--cache-control <v>`"},
    {"graph_profiling", "`--graph-profiling <v>`"},
    {"kill", "`--kill yes`, `--kill no`"},
    {"export.csv", "no flag: `ncu --import <report> --page raw --csv --print-units base` follows"},
    {"force_overwrite", "`--force-overwrite`"},
};

std::string heading(std::string_view title) {
  return "\n## " + std::string(title) + "\n\n";
}

/// Keys that hold a value, under their place in the config.
std::string flag_table(std::vector<FieldDoc> docs, std::span<const ToolFlag> flags,
                       std::string_view place) {
  std::erase_if(docs, [](const FieldDoc& doc) { return doc.is_group; });
  const auto flag_of = [&](const FieldDoc& doc) {
    const std::string_view key = std::string_view(doc.path).substr(place.size() + 1);
    const auto found = std::find_if(flags.begin(), flags.end(),
                                    [&](const ToolFlag& each) { return each.key == key; });
    return std::string(found == flags.end() ? "" : found->flag);
  };
  return reference_table(docs, {.title = "becomes", .cell = flag_of});
}

/// The sections whose keys depend on another key have tables of their own.
std::vector<FieldDoc> shared_docs() {
  std::vector<FieldDoc> docs = describe<Shared>();
  std::erase_if(docs, [](const FieldDoc& doc) { return doc.path == "dataset"; });
  return docs;
}

template <typename Subject>
std::string subject_table() {
  std::vector<FieldDoc> docs = describe<Layout<Subject>>();
  std::erase_if(docs, [](const FieldDoc& doc) {
    return !doc.path.starts_with("model") && !doc.path.starts_with("infer");
  });
  return reference_table(docs);
}

}  // namespace

std::span<const ToolFlag> nsys_flags() {
  return kNsysFlags;
}

std::span<const ToolFlag> ncu_flags() {
  return kNcuFlags;
}

std::string configuration_page() {
  std::string page = R"(# Configuration

Every key of a composed config. This page is made from the program's field lists by a test; change those, then run
the test with `PROFLINE_UPDATE_GOLDEN=1`.

Presets lie in `conf/`, whose copy in the binary is the last place searched. `profline config` prints what a command
line composes, `profline explain KEY` where a value comes from. A key that is not in these tables is an error, as is
a value of another type; all problems are listed together. Defaults are those of `conf/config.yaml`, where folders
start at the one profline is started in. The flags of nsys and ncu are in
[conf/profiling/README.md](../conf/profiling/README.md).
)";
  page += heading("For every workload") + reference_table(shared_docs());
  page += heading("dataset: images in a folder (`source: folder`)");
  page += reference_table(describe<ImageFolder>("dataset"));
  page += heading("dataset: drawn pages (`source: synthetic`)");
  page += reference_table(describe<SyntheticPages>("dataset"));
  page += heading("dataset: named images (`source: files`)");
  page += reference_table(describe<ImageFiles>("dataset"));
  page += heading("model and infer with `pipeline.workload.kind: deepseek_ocr`");
  page += subject_table<deepseek_ocr::Subject>();
  page += heading("model and infer with `pipeline.workload.kind: dummy_shallow_resnet`");
  page += subject_table<dummy_shallow_resnet::Subject>();
  page += heading("conf/hardware/devices.yaml");
  page += "No part of the config: a table that static analysis and reports read.\n\n";
  page += reference_table(describe<Hardware>());
  page += heading("conf/kernels/classes.yaml");
  page += "No part of the config: the rules by which kernels get their class.\n\n";
  page += reference_table(describe<KernelClasses>());
  return page;
}

std::string profiling_page() {
  std::string page = R"(# Profiler presets

What each key becomes on the command line of its tool. `profline plan` prints the whole command. This page is made
from the program's field lists by a test; change those, then run the test with `PROFLINE_UPDATE_GOLDEN=1`.

| group | mounted at | options |
|---|---|---|
| `profiling/torch` | `pipeline.torch_profiler` | `torch-profiler.min`, `.default`, `.max` |
| `profiling/nsys` | `pipeline.nsys` | `nsys.default` |
| `profiling/ncu` | `pipeline.ncu` | `ncu.default`, `.high`, `.h200`, `.rtx3090`, `.rtx3090.compute`, `.rtx3090.memory` |

Another option is chosen by group and mount: `profiling/ncu@pipeline.ncu=ncu.high`. Every preset has every key of its
tool, so that each can be overridden without `+` whichever preset is chosen. Null is never passed on. A value is one
element of the argument list; no shell sees it. The PyTorch profiler has no command line: its keys are in
[docs/configuration.md](../../docs/configuration.md).
)";
  page += heading("Nsight Systems: `pipeline.nsys`");
  page +=
      "Beside these, nsys always gets `--session-new` with a name made from the run's folder, "
      "`--force-overwrite=true` and\n`-o`.\n\n";
  page += flag_table(describe<Nsys>("pipeline.nsys"), kNsysFlags, "pipeline.nsys");
  page += heading("Nsight Compute: `pipeline.ncu.ncu_cli`");
  page +=
      "Beside these, ncu always gets `--nvtx` (rows then name the ranges of their kernels), `-o` "
      "and `--log-file`, and\n`--launch-count` from `pipeline.ncu.max_launches` where no include, "
      "kernel_name or launch_count bounds the capture.\n\n";
  page += flag_table(describe<NcuCli>("pipeline.ncu.ncu_cli"), kNcuFlags, "pipeline.ncu.ncu_cli");
  return page;
}

}  // namespace profline::settings
