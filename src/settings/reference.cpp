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
    {"gating_nvtx", "no flag: false leaves out `--capture-range=nvtx` and related flags"},
    {"samples", "no flag: number of requests that the workload runs"},
    {"trace", "`--trace=<v>,<v>`"},
    {"sample", "`--sample=<v>`; none: also `--cpuctxsw=none`"},
    {"capture_range",
     "`--capture-range=<v>`; none: not passed; nvtx: also `NSYS_NVTX_PROFILER_REGISTER_ONLY=0`"},
    {"capture_range_end", "`--capture-range-end=<v>`, with a capture range"},
    {"nvtx_capture", "`--nvtx-capture=<v>`, with `--capture-range=nvtx`; a list: one run each"},
    {"nvtx_domain_include", "`--nvtx-domain-include=<v>,<v>`"},
    {"nvtx_domain_exclude", "`--nvtx-domain-exclude=<v>,<v>`"},
    {"cuda_graph_trace", "`--cuda-graph-trace=<v>`"},
    {"gpu_metrics",
     "true: `--gpu-metrics-devices=all`; nsys 2022 and 2023 spell it without the last s"},
    {"gpu_metrics_frequency", "`--gpu-metrics-frequency=<v>`, with gpu_metrics"},
    {"timeout", "no flag: profline stops the stage"},
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
     "fmul and ffma counters; range replay adds `smsp__inst_executed.sum`"},
    {"sections", "`--section <v>` for each one that the installed ncu has"},
    {"kernel_name_base", "`--kernel-name-base <v>`, with kernel_name"},
    {"kernel_name", "`--kernel-name <v>`"},
    {"launch_skip", "`--launch-skip <v>`"},
    {"launch_count",
     "`--launch-count <v>`; null: `pipeline.ncu.max_launches`, unless kernel_name is given"},
    {"clock_control", "`--clock-control <v>`"},
    {"cache_control", "`--cache-control <v>`"},
    {"graph_profiling", "`--graph-profiling <v>`"},
    {"kill", "`--kill yes`, `--kill no`"},
    {"export.csv", "no flag: `ncu --import <report> --page raw --csv --print-units base` follows"},
    {"force_overwrite", "`--force-overwrite`"},
};

constexpr std::string_view kNsysPlace = "pipeline.nsys";
constexpr std::string_view kNcuPlace = "pipeline.ncu.ncu_cli";
constexpr std::string_view kNsysAlways =
    "`--session-new` with a name derived from the run directory, `--force-overwrite=true` and `-o`";
constexpr std::string_view kNcuAlways =
    "`--nvtx`, so that rows name the ranges of their kernels, `-o` and `--log-file`";

std::string without_markdown(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '`' || c == '\\'; });
  return plain;
}

/// The shipped config's values are the defaults that users see.
std::vector<FieldDoc> with_shipped(std::vector<FieldDoc> docs, const Node& shipped) {
  for (FieldDoc& doc : docs) {
    const Node* value = shipped.find_path(doc.path);
    if (value != nullptr && !doc.is_group) doc.default_text = schema::value_text(*value);
  }
  return docs;
}

std::string heading(std::string_view title) {
  return "\n## " + std::string(title) + "\n\n";
}

/// Keys that hold a value, with their full paths.
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

/// Sections whose keys depend on another key have their own tables.
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

/// An example on both pages.
constexpr std::string_view kOwnPreset = R"(
```yaml file=conf/profiling/ncu/decode_gemm.yaml
description: matrix products in decode
ncu_cli:
  nvtx:
    include: decode
  set: detailed
  kernel_name_base: demangled  # the full C++ name; function: the bare name, without template arguments and parameters
  kernel_name: 'regex:gemm|gemv'
  launch_count: 20
```
)";

}  // namespace

std::span<const ToolFlag> nsys_flags() {
  return kNsysFlags;
}

std::span<const ToolFlag> ncu_flags() {
  return kNcuFlags;
}

std::optional<std::string> tool_flag(std::string_view key) {
  struct Tool {
    std::string_view place, always;
    std::span<const ToolFlag> flags;
  };
  for (const Tool& tool :
       {Tool{kNsysPlace, kNsysAlways, kNsysFlags}, Tool{kNcuPlace, kNcuAlways, kNcuFlags}}) {
    if (key == tool.place) return without_markdown(tool.always);
    for (const ToolFlag& each : tool.flags) {
      const bool is_it = key == std::string(tool.place) + "." + std::string(each.key);
      if (is_it && !each.flag.starts_with("no flag")) return without_markdown(each.flag);
    }
  }
  return std::nullopt;
}

std::string configuration_page(const Node& shipped) {
  std::string page = R"(# Configuration

Every key of a composed config. A test generates this page from the program's field lists; change those, then run the
test with `PROFLINE_UPDATE_GOLDEN=1`.

Presets are in `conf/`; the copy embedded in the binary is searched last. `profline config` prints the config that a
command line composes, and `profline explain KEY` shows where a value comes from. Unknown keys and values of the wrong
type are errors; all problems are reported together. The defaults shown are those of `conf/config.yaml`; relative paths
start at the folder profline is started in. An option of nsys or ncu that your own preset leaves out is not passed to
the tool; [conf/profiling/README.md](../conf/profiling/README.md) lists the flags.

## Presets of your own

A preset is a file in the folder of its group. Options that it does not set are not passed to the tool:
)";
  page += kOwnPreset;
  page += R"(
`--config-dir` adds the folder to the search path; `./conf` does not need it if it contains your primary config:

```console
$ profline explain pipeline.ncu.ncu_cli.kernel_name --config-dir conf profiling/ncu@pipeline.ncu=decode_gemm
pipeline.ncu.ncu_cli.kernel_name = regex:gemm|gemv
  string or null: profile only this kernel: a name or regex:EXPRESSION; null: every kernel
  becomes --kernel-name <v>
  > conf/profiling/ncu/decode_gemm.yaml:7:16  regex:gemm|gemv  chosen by override 1: profiling/ncu@pipeline.ncu=decode_gemm
$ profline explain pipeline.ncu.ncu_cli.metrics --config-dir conf profiling/ncu@pipeline.ncu=decode_gemm
pipeline.ncu.ncu_cli.metrics is not set
  list of string or ','-separated string or null: additional metrics to collect; flop_count_hp, _sp and _dp are translated; null: not passed
  becomes --metrics <v>,<v>, those that the installed ncu knows; flop_count_sp becomes its fadd, fmul and ffma counters; range replay adds smsp__inst_executed.sum
  > default  null: not passed
```

On the command line, a key that the chosen preset does not set needs a `+`: `+pipeline.ncu.ncu_cli.launch_skip=5`.
)";
  page += heading("For every workload") + reference_table(with_shipped(shared_docs(), shipped));
  page += heading("dataset: images in a folder (`source: folder`)");
  page += reference_table(describe<ImageFolder>("dataset"));
  page += heading("dataset: generated pages (`source: synthetic`)");
  page += reference_table(describe<SyntheticPages>("dataset"));
  page += heading("dataset: named images (`source: files`)");
  page += reference_table(describe<ImageFiles>("dataset"));
  page += heading("model and infer with `pipeline.workload.kind: deepseek_ocr`");
  page += subject_table<deepseek_ocr::Subject>();
  page += heading("model and infer with `pipeline.workload.kind: dummy_shallow_resnet`");
  page += subject_table<dummy_shallow_resnet::Subject>();
  page += heading("model with `pipeline.workload.kind: program` or `server`");
  page += subject_table<program::Subject>();
  page += heading("conf/hardware/devices.yaml");
  page += "Not part of the config: a table that static analysis and reports read.\n\n";
  page += reference_table(describe<Hardware>());
  page += heading("conf/kernels/classes.yaml");
  page +=
      "Not part of the config: the rules that assign kernels to classes, in all commands. Rules in "
      "`./conf/kernels/classes.yaml`, or in any such file on the\nsearch path, are tried before "
      "the shipped ones.\n\n";
  page += reference_table(describe<KernelClasses>());
  return page;
}

std::string profiling_page(const Node& shipped) {
  std::string page = R"(# Profiler presets

The command-line flag that each key becomes. `profline plan` prints the whole command. A test generates this page from
the program's field lists; change those, then run the test with `PROFLINE_UPDATE_GOLDEN=1`.

| group | mounted at | options |
|---|---|---|
| `profiling/torch` | `pipeline.torch_profiler` | `torch-profiler.min`, `.default`, `.max` |
| `profiling/nsys` | `pipeline.nsys` | `nsys.default` |
| `profiling/ncu` | `pipeline.ncu` | `ncu.default`, `.high`, `.h200`, `.rtx3090`, `.rtx3090.compute`, `.rtx3090.memory` |

To select another option, name its group and mount point: `profiling/ncu@pipeline.ncu=ncu.high`. Every shipped preset
sets every key of its tool, so that any key can be overridden without `+`. A key that is null, or that your own preset
leaves out, is not passed: the tool's own default applies. A value is one element of the argument list and never goes
through a shell. The PyTorch profiler has no command line; its keys are in
[docs/configuration.md](../../docs/configuration.md).

`profline kernels profile --ncu-config PRESET` also takes ncu presets, with the same rules.

## Nsight Systems: `pipeline.nsys`

Apart from these, nsys always gets )" +
                     std::string(kNsysAlways) + ".\n\n";
  page += flag_table(with_shipped(describe<Nsys>(kNsysPlace), shipped), kNsysFlags, kNsysPlace);
  page += heading("Nsight Compute: `pipeline.ncu.ncu_cli`");
  page += "Apart from these, ncu always gets " + std::string(kNcuAlways) + ".\n\n";
  page += flag_table(with_shipped(describe<NcuCli>(kNcuPlace), shipped), kNcuFlags, kNcuPlace);
  page += R"(
## Examples

Overrides, on top of a preset:

| to | override |
|---|---|
| profile one kernel by its full C++ name | `pipeline.ncu.ncu_cli.kernel_name='regex:gemm.*'` |
| profile one kernel by its bare function name | `pipeline.ncu.ncu_cli.kernel_name_base=function pipeline.ncu.ncu_cli.kernel_name=flash_fwd_kernel` |
| profile it in prefill instead of decode | `pipeline.ncu.ncu_cli.nvtx.include=prefill` |
| profile everywhere, from the program's start | `pipeline.ncu.ncu_cli.nvtx.include=null` |
| capture one range with nsys | `pipeline.nsys.capture_range=nvtx pipeline.nsys.nvtx_capture=decode` |

Your own preset, selected by its name:
)";
  page += kOwnPreset;
  page += R"(
```yaml file=conf/profiling/nsys/decode.yaml
trace: cuda,nvtx
sample: none
capture_range: nvtx
capture_range_end: stop
nvtx_capture: decode
```

```console
$ profline config --config-dir conf profiling/ncu@pipeline.ncu=decode_gemm --package pipeline.ncu.ncu_cli
# @package pipeline.ncu.ncu_cli
nvtx:
  include: decode
set: detailed
kernel_name_base: demangled
kernel_name: regex:gemm|gemv
launch_count: 20
# Not set, so profline's default applies:
#   pipeline.ncu.ncu_cli.export.csv: true
#   pipeline.ncu.ncu_cli.force_overwrite: false
$ profline config --config-dir conf profiling/nsys@pipeline.nsys=decode --package pipeline.nsys.trace
cuda,nvtx
```

`plan` prints the resulting commands, and `explain KEY` shows a key's flag and the value used if it is not set.
)";
  return page;
}

}  // namespace profline::settings
