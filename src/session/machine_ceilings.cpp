#include "session/machine_ceilings.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/strings.h"
#include "pipeline/child_output.h"
#include "pipeline/environment.h"
#include "process/runner.h"
#include "session/run_preparation.h"
#include "tools/gpu/driver.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "`profline ceilings` measures it";
constexpr const char* kEnding = ".json";

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

/// Lower-case letters and digits of a name, other characters as one dash each: `nvidia-h200`.
std::string as_file_name(std::string_view name) {
  std::string text;
  for (const char c : lower(name)) {
    const bool is_kept = is_letter(c) || is_digit(c);
    if (is_kept) text += c;
    if (!is_kept && !text.empty() && text.back() != '-') text += '-';
  }
  while (!text.empty() && text.back() == '-') text.pop_back();
  constexpr std::string_view kMaker = "nvidia-";
  return text.starts_with(kMaker) ? text.substr(kMaker.size()) : text;
}

std::string file_name(const MeasuredDevice& device) {
  if (device.is_gpu()) return as_file_name(device.name) + "-" + device.uuid + kEnding;
  const std::string threads =
      device.threads > 0 ? fmt::format("-{}-threads", device.threads) : std::string();
  return "cpu-" + as_file_name(host_name()) + threads + kEnding;
}

/// The file for a GPU without a uuid: the only one of its name.
fs::path file_of_name(const fs::path& folder, const std::string& name) {
  const std::string prefix = as_file_name(name) + "-GPU-";
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    const std::string file = it->path().filename().string();
    if (file.starts_with(prefix) && file.ends_with(kEnding)) found.push_back(it->path());
  }
  return found.size() == 1 ? found.front() : fs::path();
}

/// Passes the workload's progress on.
class Measuring final : public RunObserver {
 public:
  explicit Measuring(Progress& progress) : output_(progress) {}
  void output(std::string_view bytes) override { output_.take(bytes); }

 private:
  pipeline::ChildOutput output_;
};

/// The last line of a program's output, which is its error.
std::string last_line(const std::string& output) {
  std::string last;
  for (const std::string_view line : lines(output)) {
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

Result<void> run_workload(const Command& command, const Services& services) {
  const SystemClock clock;
  const auto progress = make_progress(services.progress, STDERR_FILENO, clock);
  Step step(*progress, "ceilings");
  Measuring output(*progress);
  const Exit exit = PL_TRY(services.processes.run(command, output));
  if (exit.why == Exit::Why::Cancelled) {
    step.end(StepOutcome::Cancelled);
    return Error(ErrorKind::Cancelled, "interrupted; nothing was kept");
  }
  if (!exit.succeeded()) {
    const std::string why = last_line(exit.tail);
    return Error(
        exit.code == static_cast<int>(ExitCode::Absent) ? ErrorKind::NotFound : ErrorKind::Tool,
        why.empty() ? "profline-workload " + exit.describe() : why);
  }
  step.end(StepOutcome::Ok);
  return {};
}

/// The driver's number of a GPU.
Result<gpu::Device> gpu_of(const settings::Device& device, const Result<gpu::Driver>& driver) {
  const auto decided = PL_TRY(decide_device(device, driver));
  return driver->devices[decided.index.value_or(0)];
}

}  // namespace

fs::path ceilings_folder() {
  const auto data = environment_variable("XDG_DATA_HOME");
  if (data && fs::path(*data).is_absolute()) return fs::path(*data) / "profline" / "ceilings";
  const auto home = environment_variable("HOME");
  if (!home || home->empty()) return {};
  return fs::path(*home) / ".local" / "share" / "profline" / "ceilings";
}

Result<fs::path> keep_ceilings(const MachineCeilings& ceilings) {
  const fs::path folder = ceilings_folder();
  if (folder.empty()) {
    return Error(ErrorKind::NotFound,
                 "there is no folder to keep ceilings in: HOME is not set; write them to a file "
                 "with --output-file");
  }
  PL_TRY(create_folders(folder));
  MeasuredDevice device;
  if (ceilings.is_gpu()) {
    device.name = ceilings.device;
    device.uuid = ceilings.device_uuid;
  } else {
    device.threads = ceilings.chosen_threads;
  }
  const fs::path file = folder / file_name(device);
  PL_TRY(write_file_atomic(file, PL_TRY(to_document(ceilings))));
  return file;
}

Result<MachineCeilings> load_ceilings(const fs::path& file) {
  return from_document<MachineCeilings>(PL_TRY(read_file(file)), file.string());
}

fs::path kept_file(const MeasuredDevice& device) {
  const fs::path folder = ceilings_folder();
  if (folder.empty()) return {};
  const bool only_name = device.is_gpu() && device.uuid.empty();
  fs::path file = only_name ? file_of_name(folder, device.name) : folder / file_name(device);
  std::error_code failure;
  return fs::exists(file, failure) ? file : fs::path();
}

Result<MachineCeilings> kept_ceilings(const MeasuredDevice& device) {
  const fs::path file = kept_file(device);
  if (file.empty()) {
    return Error(ErrorKind::NotFound, (device.is_gpu() ? device.name : "this CPU") +
                                          " has not been measured; " + kCommand);
  }
  MachineCeilings ceilings = PL_TRY(load_ceilings(file));
  // Machines of one name, such as nodes of a cluster or containers, may have different processors.
  const std::string processor = device.is_gpu() ? "" : pipeline::cpu_model();
  if (!processor.empty() && !ceilings.device.empty() && ceilings.device != processor) {
    return Error(ErrorKind::NotFound, "this CPU has not been measured, because " + file.string() +
                                          " is of " + ceilings.device + " and this is " +
                                          processor + "; " + kCommand);
  }
  return ceilings;
}

Result<roofline::KnownCeilings> ceilings_for(const config::SearchPath& search_path,
                                             const MeasuredDevice& device,
                                             const CeilingsChoice& choice) {
  const settings::Hardware hardware = PL_TRY(load_hardware(search_path));
  const settings::DeviceLimits* limits =
      device.is_gpu() ? find_device(hardware, device.name) : nullptr;
  roofline::CeilingSources sources;
  sources.choice = choice.choice;
  if (limits != nullptr) sources.datasheet = settings::ceilings_of(*limits);
  const bool is_file =
      choice.choice != "auto" && choice.choice != "measured" && choice.choice != "datasheet";
  if (is_file) {
    sources.measured =
        PL_TRY(load_ceilings(choice.cwd / choice.choice).during("ceilings=" + choice.choice));
  } else if (auto kept = kept_ceilings(device)) {
    sources.measured = std::move(*kept);
  } else {
    sources.why_not_measured = kept.error().to_string();
  }
  return roofline::choose_ceilings(sources, environment_variable);
}

Result<MeasuredDevice> device_to_measure(const CeilingsMeasurement& request) {
  MeasuredDevice device;
  device.threads = request.threads;
  if (request.device.kind == settings::Device::Kind::Cpu) return device;
  const auto driver = gpu::load_driver();
  const auto decided = PL_TRY(decide_device(request.device, driver));
  if (decided.kind == settings::Device::Kind::Cpu) return device;
  const gpu::Device gpu = PL_TRY(gpu_of(decided, driver));
  return MeasuredDevice{gpu.name, gpu.uuid, 0};
}

Result<MachineCeilings> measure_machine(const CeilingsMeasurement& request,
                                        const Services& services) {
  const std::optional<Result<gpu::Driver>> driver =
      request.device.kind == settings::Device::Kind::Cpu
          ? std::nullopt
          : std::optional<Result<gpu::Driver>>(gpu::load_driver());
  const settings::Device device =
      driver ? PL_TRY(decide_device(request.device, *driver)) : request.device;
  const fs::path program = PL_TRY(request.workload.empty() ? find_companion("profline-workload")
                                                           : find_program(request.workload));
  PL_TRY(temporary_folder());
  const ScratchFolder folder;
  const fs::path file = folder.path() / "ceilings";
  Command command;
  command.argv = {program.string(),
                  "--ceilings",
                  file.string(),
                  "--device",
                  device.to_string(),
                  "--seconds",
                  fmt::format("{}", request.seconds)};
  if (request.threads > 0) {
    command.argv.insert(command.argv.end(), {"--threads", std::to_string(request.threads)});
  }
  PL_TRY(run_workload(command, services));
  MachineCeilings ceilings = PL_TRY(load_ceilings(file));
  pipeline::Toolbox tools;
  tools.driver = driver;
  const Environment environment = pipeline::look_around(tools, services.processes);
  ceilings.host = environment.host;
  ceilings.driver = environment.driver;
  if (!ceilings.is_gpu()) ceilings.device = environment.cpu.model;
  ceilings.chosen_threads = request.threads;
  return ceilings;
}

}  // namespace profline::session
