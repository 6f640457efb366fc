#include <algorithm>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_ranges.h"
#include "pipeline/workload_stage.h"
#include "stages/nsys/internal/findings.h"
#include "tools/nsys/profile_command.h"

namespace profline::stages::internal {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using settings::CaptureRange;

std::string versioned(const nsys::Installation& nsys) {
  return "nsys " + nsys.version.to_string();
}

Finding missing_nsys(const Error& error) {
  return {Severity::Problem, "nsys_absent", error.to_string(),
          "install Nsight Systems (Debian: enable the non-free component, then apt-get install "
          "nsight-systems), put its folder on PATH, or leave the stage out: "
          "pipeline.nsys.enable=false"};
}

void check_importer(const nsys::Installation& nsys, std::vector<Finding>& findings) {
  if (nsys.importer_lacks.empty()) return;
  findings.push_back({Severity::Problem, "importer_lacks_libraries",
                      versioned(nsys) + " captures, but its importer " + nsys.importer.string() +
                          " lacks " + join(nsys.importer_lacks, ", ") +
                          ", so no report would be written",
                      "install what provides them; profline doctor names the packages"});
}

void check_options(const nsys::Installation& nsys, const settings::Nsys& own,
                   std::vector<Finding>& findings) {
  const std::vector<std::string> missing = nsys::missing_options(nsys, own);
  if (missing.empty()) return;
  findings.push_back({Severity::Problem, "option_unknown",
                      versioned(nsys) + " does not have " + join(missing, ", "),
                      "set the keys to null, or use a newer nsys", ErrorKind::Config});
}

void check_sampling(const nsys::Installation& nsys, const settings::Nsys& own,
                    std::vector<Finding>& findings) {
  constexpr int kSteadyFrom = 2023;
  if (own.sample == settings::CpuSampling::None || nsys.version.major >= kSteadyFrom) return;
  const char* by_default = own.sample ? "" : " (its default when pipeline.nsys.sample is not set)";
  findings.push_back({Severity::Warning, "sampling_hangs",
                      versioned(nsys) + " can hang forever while it samples the CPU" + by_default +
                          " on newer kernels",
                      "set pipeline.nsys.sample=none, or set pipeline.nsys.timeout"});
}

/// nsys needs 2 MiB there for an empty capture; with less it crashes, or hangs for ever.
void check_temporary_space(std::vector<Finding>& findings) {
  constexpr std::uint64_t kLeastFree = std::uint64_t{8} << 20U;
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  const auto free = failure ? kLeastFree : free_bytes(folder).value_or(kLeastFree);
  if (free >= kLeastFree) return;
  findings.push_back({Severity::Problem, "temporary_disk_full",
                      human_bytes(free) + " left on the disk of " + folder.string() +
                          ", where nsys keeps what it has not imported yet",
                      "make room, or name another folder: TMPDIR=FOLDER", ErrorKind::Io});
}

/// A name without its domain.
std::string plain_name(const std::string& range) {
  return range.substr(0, range.find('@'));
}

void check_ranges(const settings::Root& settings, std::vector<Finding>& findings) {
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  if (opened.empty()) return;
  for (const std::string& range : nsys::gated_ranges(settings.pipeline.nsys)) {
    const std::string name = plain_name(range);
    if (std::find(opened.begin(), opened.end(), name) != opened.end()) continue;
    const bool is_step = name == "decode_step";
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload opens no range '" + name + "'" +
                            did_you_mean(name, opened) + "; it opens " + join(opened, ", "),
                        is_step
                            ? "switch the ranges of tokens on: pipeline.workload.nvtx_steps=true"
                            : "name one of them in pipeline.nsys.nvtx_capture"});
  }
}

void check_device(const settings::Root& settings, std::vector<Finding>& findings) {
  const settings::Nsys& own = settings.pipeline.nsys;
  const bool is_gpu = settings.device.kind == settings::Device::Kind::Cuda;
  if (is_gpu && !own.traces("cuda")) {
    findings.push_back({Severity::Warning, "cuda_not_traced",
                        "pipeline.nsys.trace does not name cuda, so no kernels are recorded",
                        "pipeline.nsys.trace=[cuda,nvtx,osrt]"});
  }
  const bool waits_for_call = nsys::effective_range(own) == CaptureRange::CudaProfilerApi;
  if (waits_for_call && !settings.pipeline.workload.user_command()) {
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload never calls cudaProfilerStart, which "
                        "pipeline.nsys.capture_range=cudaProfilerApi waits for",
                        "pipeline.nsys.capture_range=nvtx"});
  }
}

}  // namespace

std::vector<Finding> nsys_preflight(const pipeline::StageContext& context) {
  std::vector<Finding> findings = pipeline::workload_preflight(context);
  if (!context.tools.nsys) return findings;
  if (!*context.tools.nsys) {
    findings.push_back(missing_nsys(context.tools.nsys->error()));
    return findings;
  }
  const nsys::Installation& nsys = **context.tools.nsys;
  const settings::Root& settings = context.setup.settings;
  check_importer(nsys, findings);
  check_options(nsys, settings.pipeline.nsys, findings);
  check_sampling(nsys, settings.pipeline.nsys, findings);
  check_temporary_space(findings);
  check_ranges(settings, findings);
  check_device(settings, findings);
  return findings;
}

std::vector<std::string> capture_notes(const pipeline::RunSetup& setup) {
  const settings::Nsys& own = setup.settings.pipeline.nsys;
  std::vector<std::string> notes;
  if (own.capture_range == CaptureRange::Nvtx && !own.gating_nvtx) {
    notes.emplace_back("everything is captured: pipeline.nsys.gating_nvtx is false");
  }
  const bool is_gated = nsys::effective_range(own) != CaptureRange::None;
  if (is_gated && !own.capture_range_end) {
    notes.emplace_back(
        "nsys ends the workload after the first range, because pipeline.nsys.capture_range_end is "
        "not set");
  }
  const std::size_t regions = nsys::gated_ranges(own).size();
  if (regions > 1) {
    notes.push_back("the workload runs " + std::to_string(regions) + " times, once for each range");
  }
  return notes;
}

}  // namespace profline::stages::internal
