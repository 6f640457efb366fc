#include "doctor/checks.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "doctor/launchers.h"
#include "formats/json.h"
#include "process/runner.h"

namespace profline::doctor {
namespace {

constexpr std::uint64_t kEnoughDisk = 10ULL << 30U;  // a long nsys capture is several GiB

/// Debian packages of the libraries that nsys importers have been found to lack.
struct LibraryPackage {
  std::string_view library;
  std::string_view package;
};
constexpr LibraryPackage kPackages[] = {
    {"libssh.so.4", "libssh-4"}, {"libpfm.so.4", "libpfm4"},   {"libdw.so.1", "libdw1"},
    {"libelf.so.1", "libelf1"},  {"liblzma.so.5", "liblzma5"}, {"libbz2.so.1.0", "libbz2-1.0"},
    {"libssl.so.3", "libssl3"},
};

std::string install_line(const std::vector<std::string>& libraries) {
  std::vector<std::string> packages;
  for (const std::string& library : libraries) {
    for (const auto& [known, package] : kPackages) {
      if (library == known) packages.emplace_back(package);
    }
  }
  const std::string what = "install what provides " + join(libraries, ", ");
  return packages.empty() ? what : what + " (Debian: apt-get install " + join(packages, " ") + ")";
}

/// A program that was not found, or was found but is not usable.
Finding judge_program_failure(std::string name, const Error& error, std::string fix) {
  if (error.kind() == ErrorKind::NotFound) {
    return {std::move(name), State::Missing, "not on PATH", std::move(fix)};
  }
  return {std::move(name), State::Broken, error.to_string(), std::move(fix)};
}

/// Debian's package of 2023.4 lacks two modules that its reports need.
constexpr std::string_view kForgottenModules =
    "with Debian's package: ln -s /usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/python/"
    "lib/nsysstats.py /usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/python/lib/"
    "gpustats.py /usr/lib/nsight-systems/host-linux-x64/python/lib/";

Finding judge_trial(Finding finding, const nsys::Trial& trial) {
  if (trial.report_written && trial.reading_problem.empty()) return finding;
  finding.state = State::Broken;
  if (trial.report_written) {
    finding.detail += ": captures, but cannot read its own reports: " + trial.reading_problem;
    const bool is_known = trial.reading_problem.find("nsysstats") != std::string::npos;
    finding.fix =
        is_known ? kForgottenModules : "install all of Nsight Systems, or another release of it";
    return finding;
  }
  finding.detail += ": " + nsys::trial_problem(trial);
  if (!trial.importer_lacks.empty()) {
    finding.fix = install_line(trial.importer_lacks);
  } else if (!trial.importer_said.empty()) {
    finding.fix = nsys::importer_fix();
  } else if (trial.left_unimported && trial.importer.empty()) {
    finding.fix =
        "install all of Nsight Systems; with Debian's package also: ln -sfn "
        "../../nsight-systems/host-linux-x64 "
        "/usr/lib/x86_64-linux-gnu/nsight-systems/host-linux-x64";
  } else {
    finding.fix = "run 'nsys profile --trace=none --sample=none --cpuctxsw=none /bin/true' by hand";
  }
  return finding;
}

}  // namespace

std::string_view to_text(State state) {
  switch (state) {
    case State::Found:
      return "found";
    case State::Missing:
      return "missing";
    case State::Broken:
      return "broken";
  }
  return "";
}

Finding judge_gpu(const Result<gpu::Driver>& driver) {
  if (!driver) {
    const bool absent = driver.error().kind() == ErrorKind::NotFound;
    return {"gpu", absent ? State::Missing : State::Broken, driver.error().to_string(),
            "stages on cuda and Nsight Compute need an NVIDIA GPU and its driver; everything else "
            "works "
            "without"};
  }
  std::string detail;
  for (const gpu::Device& device : driver->devices) {
    if (!detail.empty()) detail += "; ";
    detail +=
        fmt::format("cuda:{} {}, compute {}.{}, {}", device.index, device.name,
                    device.compute_major, device.compute_minor, human_bytes(device.memory_bytes));
  }
  return {
      "gpu", State::Found,
      fmt::format("{}; driver runs CUDA {}.{}", detail, driver->cuda_major, driver->cuda_minor)};
}

Finding judge_driver(const std::optional<std::string>& module_text) {
  if (!module_text) {
    return {"driver", State::Missing, "the NVIDIA kernel module is not loaded",
            "install NVIDIA's driver (Debian: enable the non-free component, then apt-get install "
            "nvidia-driver) and reboot"};
  }
  const std::string version = gpu::kernel_module_version(*module_text);
  return {"driver", State::Found, version.empty() ? "loaded, version unknown" : version};
}

Finding judge_counters(const std::optional<std::string>& params_text, bool privileged) {
  if (!params_text) {
    return {"counters", State::Missing, "no GPU performance counters without the NVIDIA driver",
            "see driver"};
  }
  if (!gpu::counters_are_restricted(*params_text)) {
    return {"counters", State::Found, "open to all users"};
  }
  if (privileged) return {"counters", State::Found, "restricted to administrators, which you are"};
  return {"counters", State::Broken,
          "restricted to administrators: ncu would fail with ERR_NVGPUCTRPERM",
          "run as root, or as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
          "/etc/modprobe.d/nvidia-counters.conf && update-initramfs -u, then reboot"};
}

Finding judge_nsys(const Result<nsys::Installation>& installation,
                   const std::optional<Result<nsys::Trial>>& trial) {
  if (!installation) {
    return judge_program_failure(
        "nsys", installation.error(),
        "install Nsight Systems (Debian: enable the non-free component, then apt-get install "
        "nsight-systems) or put its folder on PATH");
  }
  Finding finding{
      "nsys", State::Found,
      fmt::format("{} ({})", installation->version.to_string(), installation->program.string())};
  if (!trial) return finding;
  if (!*trial) {
    return {"nsys", State::Broken, finding.detail + ": " + trial->error().to_string(), "see above"};
  }
  return judge_trial(std::move(finding), **trial);
}

Finding judge_ncu(const Result<ncu::Installation>& installation,
                  const Result<gpu::Driver>& driver) {
  if (!installation) {
    return judge_program_failure(
        "ncu", installation.error(),
        "install Nsight Compute (Debian: enable the non-free component, then apt-get install "
        "nsight-compute) or put its folder on PATH");
  }
  Finding finding{
      "ncu", State::Found,
      fmt::format("{} ({})", installation->version.to_string(), installation->program.string())};
  if (!driver && driver.error().reason() == gpu::kNoLibrary) {
    finding.state = State::Broken;
    finding.detail += ": ends every program it starts, because there is no libcuda.so.1";
    finding.fix =
        "install NVIDIA's driver; its user-mode part alone (Debian: apt-get install libcuda1) lets "
        "ncu start";
  }
  return finding;
}

Finding judge_sampling(const std::optional<std::string>& paranoid, bool privileged) {
  constexpr int kHighestUsable = 2;
  int level = 0;
  const std::string_view text = paranoid ? trim(*paranoid) : std::string_view();
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), level);
  if (parsed.ec != std::errc()) {
    return {"sampling", State::Missing, "this kernel has no perf events",
            "leave pipeline.nsys.sample at none"};
  }
  const std::string setting = fmt::format("perf_event_paranoid is {}", level);
  if (privileged || level <= kHighestUsable) return {"sampling", State::Found, setting};
  return {"sampling", State::Broken, setting + ": nsys cannot sample CPU stacks",
          "leave pipeline.nsys.sample at none, or as root: sysctl kernel.perf_event_paranoid=2"};
}

Finding judge_libtorch(const Result<std::string>& answer) {
  const std::string build = "build it with libtorch: scripts/setup torch && make build";
  if (!answer) {
    Finding finding = judge_program_failure("libtorch", answer.error(), build);
    if (finding.state == State::Missing) {
      finding.detail = "no profline-workload next to profline or on PATH";
    }
    return finding;
  }
  const auto node = parse_json(*answer, "profline-workload --version");
  const Node* version = node ? node->find("version") : nullptr;
  const Node* blas = node ? node->find("blas") : nullptr;
  const Node* cuda = node ? node->find("cuda") : nullptr;
  const bool complete = version != nullptr && version->is_string() && blas != nullptr &&
                        blas->is_string() && cuda != nullptr && cuda->is_bool();
  if (!complete) {
    return {"libtorch", State::Broken, "profline-workload reports no build information", build};
  }
  Finding finding{"libtorch", State::Found,
                  fmt::format("{}, {}, {}", version->as_string(),
                              cuda->as_bool() ? "with CUDA" : "CPU only", blas->as_string())};
  if (blas->as_string() == "reference") {
    finding.state = State::Broken;
    finding.detail += " BLAS: matrix products run about 30 times slower than they could";
    finding.fix = "apt-get install libopenblas0-pthread";
  }
  return finding;
}

Finding judge_nvtx(const Result<std::string>& answer) {
  const std::string build = "scripts/setup nvtx && make build";
  const auto node =
      answer ? parse_json(*answer, "profline-workload --version") : Result<Node>(answer.error());
  const Node* nvtx = node ? node->find("nvtx") : nullptr;
  if (nvtx == nullptr || !nvtx->is_bool()) {
    return {"nvtx", State::Missing, "no profline-workload that would open NVTX ranges",
            "see libtorch"};
  }
  if (nvtx->as_bool()) return {"nvtx", State::Found, "profline-workload opens NVTX ranges"};
  return {"nvtx", State::Missing,
          "profline-workload was built without the nvtx3 headers: captures cannot be gated on its "
          "ranges, nor times attributed to them",
          build};
}

Finding judge_disk(const std::filesystem::path& folder, const Result<std::uint64_t>& free_bytes) {
  if (!free_bytes)
    return {"disk", State::Broken, free_bytes.error().to_string(),
            "start profline in another folder"};
  Finding finding{"disk", State::Found,
                  fmt::format("{} free in {}", human_bytes(*free_bytes), folder.string())};
  if (*free_bytes < kEnoughDisk) {
    finding.state = State::Broken;
    finding.fix = fmt::format("free up {}, or start where there is more room: captures are large",
                              human_bytes(kEnoughDisk - *free_bytes));
  }
  return finding;
}

namespace {

std::optional<std::string> text_of(const std::filesystem::path& file) {
  auto text = read_file(file);
  if (!text) return std::nullopt;
  return std::move(text).value();
}

Result<std::string> ask_workload(ProcessRunner& processes, const std::string& given) {
  const auto program =
      PL_TRY(given.empty() ? find_companion("profline-workload") : find_program(given));
  return output_of(processes, {program.string(), "--version", "--format", "json"});
}

Result<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name) {
  return nsys::probe(processes, PL_TRY(nsys::choose_nsys(processes, name)));
}

Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name) {
  return ncu::probe(processes, PL_TRY(find_program(name)));
}

Result<nsys::Trial> try_nsys(ProcessRunner& processes, const nsys::Installation& nsys,
                             const std::filesystem::path& folder) {
  nsys::Trial trial = PL_TRY(nsys::try_capture(processes, nsys, folder));
  if (trial.report_written) {
    trial.reading_problem = PL_TRY(nsys::try_reading(processes, nsys, folder));
  }
  return trial;
}

Finding check_nsys(ProcessRunner& processes, const std::string& name) {
  const auto installation = find_nsys(processes, name);
  std::optional<Result<nsys::Trial>> trial;
  const ScratchFolder folder;
  if (installation && !folder.path().empty()) {
    trial = try_nsys(processes, *installation, folder.path());
  }
  return judge_nsys(installation, trial);
}

}  // namespace

const std::vector<std::string>& subjects() {
  static const std::vector<std::string> kNames = {"gpu",  "driver",   "counters", "nsys",
                                                  "ncu",  "sampling", "libtorch", "nvtx",
                                                  "srun", "mpirun",   "torchrun", "disk"};
  return kNames;
}

Result<std::vector<Finding>> examine(const Programs& programs, ProcessRunner& processes,
                                     const Interrupt& interrupt) {
  // A program named by the user must exist; the defaults may be absent.
  for (const std::string& named : {programs.nsys, programs.ncu, programs.workload}) {
    if (named.find('/') != std::string::npos) PL_TRY(find_program(named));
  }
  const bool privileged = geteuid() == 0;
  const std::filesystem::path here = std::filesystem::current_path();
  std::vector<Finding> findings;
  const Result<gpu::Driver> driver = gpu::load_driver();
  findings.push_back(judge_gpu(driver));
  findings.push_back(judge_driver(text_of("/proc/driver/nvidia/version")));
  findings.push_back(judge_counters(text_of("/proc/driver/nvidia/params"), privileged));
  findings.push_back(check_nsys(processes, programs.nsys));
  findings.push_back(judge_ncu(find_ncu(processes, programs.ncu), driver));
  findings.push_back(judge_sampling(text_of("/proc/sys/kernel/perf_event_paranoid"), privileged));
  const Result<std::string> answer = ask_workload(processes, programs.workload);
  findings.push_back(judge_libtorch(answer));
  findings.push_back(judge_nvtx(answer));
  findings.push_back(check_srun(processes, programs.srun));
  findings.push_back(check_mpirun(processes, programs.mpirun, privileged));
  findings.push_back(check_torchrun(processes, programs.torchrun));
  findings.push_back(judge_disk(here, free_bytes(here)));
  if (interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
  return findings;
}

bool are_found(const std::vector<std::string>& required, const std::vector<Finding>& findings) {
  return std::all_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const bool is_required = std::count(required.begin(), required.end(), finding.name) > 0;
    return !is_required || finding.state == State::Found;
  });
}

}  // namespace profline::doctor
