#include "kernel_lab/internal/capture.h"

#include <set>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/redaction.h"
#include "kernel_lab/capture_command.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/profile_command.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::kernel_lab {
namespace {

namespace fs = std::filesystem;

/// A running pass.
class PassRun {
 public:
  PassRun(const LabRequest& request, const LabTools& tools, const LabServices& services,
          std::span<const ChosenKernel> kernels, const Pass& pass)
      : request_(request),
        tools_(tools),
        services_(services),
        kernels_(kernels),
        pass_(pass),
        folder_(request.folder / pass.folder) {}

  Result<PassResult> run(const std::string& counted) {
    const Clock::Steady begin = services_.clock.now();
    PL_TRY(create_folders(folder_));
    const Command command = capture_command(tools_.ncu, request_.ncu, pass_.regex, pass_.choice,
                                            folder_, request_.program);
    Ticking ticking(services_.progress);
    const Exit exit = PL_TRY(services_.processes.run(command, ticking));
    PassResult result;
    result.was_cancelled = exit.why == Exit::Why::Cancelled;
    const ncu::Messages messages =
        ncu::read_messages(read_file(folder_ / kLogFile).value_or("") + exit.tail);
    const std::string problem =
        result.was_cancelled ? "stopped" : why_failed(messages, exit, pass_.regex, counted);
    for (const std::size_t index : pass_.kernels) {
      CaptureRecord record = begun_record(kernels_[index]);
      record.argv = Redactor::of_environment().words(command.argv);
      record.problem = problem;
      if (pass_.is_merged()) {
        record.merged_with = pass_.folder + "/" + kReportFile;
        record.choice = pass_.choice.reason;
      }
      if (messages.application_code) {
        record.notes.push_back(
            fmt::format("the program ended with code {}", *messages.application_code));
      }
      if (problem.empty()) PL_TRY(make_tables(kernels_[index], messages, record));
      result.records.push_back(std::move(record));
    }
    const std::chrono::duration<double> wall = services_.clock.now() - begin;
    const double share = wall.count() / static_cast<double>(pass_.kernels.size());
    for (CaptureRecord& record : result.records) record.wall_s = share;
    return result;
  }

 private:
  /// Makes the tables of a kernel and derives from them what was profiled.
  Result<void> make_tables(const ChosenKernel& kernel, const ncu::Messages& messages,
                           CaptureRecord& record) {
    const fs::path folder = request_.folder / kernel.folder;
    PL_TRY(create_folders(folder));
    const std::optional<std::string> only =
        pass_.is_merged() ? std::optional(kernel.kernel.regex) : std::nullopt;
    const std::vector<Export> exports =
        export_commands(tools_.ncu, request_.ncu, folder_ / kReportFile, folder, only);
    for (const Export& table : exports) {
      Ticking ticking(services_.progress);
      const Exit exit = PL_TRY(services_.processes.run(table.command, ticking));
      if (exit.succeeded()) continue;
      record.notes.push_back(
          fmt::format("{}: ncu {}", table.file.filename().string(), exit.describe()));
    }
    if (exports.empty()) {
      record.profiled = messages.profiled;
      record.state = CaptureState::Ok;
      return {};
    }
    check_table(folder / kMetricsFile, record);
    const auto expected = kernel.choice.expected;
    if (!pass_.is_merged() && expected && record.profiled > 0 && record.profiled != *expected) {
      record.notes.push_back(fmt::format("{} to be profiled, but {}",
                                         counted(*expected, "launch was", "launches were"),
                                         counted(record.profiled, "was", "were")));
    }
    return {};
  }

  static void check_table(const fs::path& file, CaptureRecord& record) {
    const auto report = ncu::load_csv(file.string(), {.source = file.string(), .keep = {}});
    if (!report) {
      record.problem = "the capture cannot be read: " + report.error().to_string();
      return;
    }
    std::set<std::string> functions;
    for (const ProfiledKernel& kernel : report->kernels) {
      functions.insert(report->names.text(kernel.name));
    }
    record.functions.assign(functions.begin(), functions.end());
    record.profiled = report->kernels.size();
    if (record.profiled == 0) {
      record.problem = fmt::format("no kernel matched '{}'", record.regex);
      return;
    }
    record.state = CaptureState::Ok;
  }

  const LabRequest& request_;
  const LabTools& tools_;
  const LabServices& services_;
  std::span<const ChosenKernel> kernels_;
  const Pass& pass_;
  fs::path folder_;
};

}  // namespace

CaptureRecord begun_record(const ChosenKernel& kernel) {
  CaptureRecord record;
  record.folder = kernel.folder;
  record.name = kernel.kernel.name;
  record.regex = kernel.kernel.regex;
  record.description = kernel.kernel.description;
  record.launches = kernel.launches;
  record.choice = kernel.choice.reason;
  return record;
}

Result<PassResult> run_pass(const LabRequest& request, const LabTools& tools,
                            const LabServices& services, std::span<const ChosenKernel> kernels,
                            const Pass& pass, const std::string& counted) {
  return PassRun(request, tools, services, kernels, pass).run(counted);
}

std::string why_failed(const ncu::Messages& messages, const Exit& exit, const std::string& regex,
                       const std::string& counted) {
  if (messages.counters_denied) {
    return "the driver restricts GPU performance counters to administrators (ERR_NVGPUCTRPERM); "
           "see 'profline doctor' for how to enable them";
  }
  if (messages.no_libcuda)
    return "ncu could not reach the CUDA driver: there is no GPU here, or no driver";
  if (messages.program_not_found) return "ncu did not find the program";
  if (messages.disk_full) return "no space left on the disk";
  if (messages.cannot_write) return "ncu could not write its report";
  if (!messages.nothing_profiled.empty()) {
    if (messages.application_code) {
      return fmt::format("the program failed with code {} before a kernel matched '{}'",
                         *messages.application_code, regex);
    }
    if (messages.connected == 0) return "the program made no use of CUDA";
    return fmt::format("no kernel matched '{}'{}", regex, counted);
  }
  if (exit.succeeded()) return {};
  if (messages.profiled > 0 && messages.application_code) return {};
  std::string why = "ncu " + exit.describe();
  if (!messages.errors.empty()) why += ": " + messages.errors.back();
  return why;
}

namespace {

/// Ends the session that a killed nsys leaves, and redraws the progress line.
class NsysRun final : public RunObserver {
 public:
  NsysRun(const fs::path& program, const std::string& session, Progress& progress)
      : ends_(program, session), ticking_(progress) {}
  void output(std::string_view bytes) override { ticking_.output(bytes); }
  void outlived() override { ends_.outlived(); }
  void abandoned() override { ends_.abandoned(); }

 private:
  nsys::EndsSession ends_;
  Ticking ticking_;
};

std::vector<std::string> ranges_of(const settings::Ncu& ncu) {
  const auto& include = ncu.ncu_cli.nvtx.include;
  return include && ncu.gating_nvtx ? include->items : std::vector<std::string>();
}

Error cancelled() {
  return Error(ErrorKind::Cancelled, "stopped while launches were counted");
}

Result<SeenLaunches> from_sqlite(const fs::path& sqlite, const settings::Ncu& ncu) {
  const Timeline timeline = PL_TRY(nsys::read_sqlite(sqlite));
  return seen_launches(timeline, ranges_of(ncu));
}

/// A report that already exists.
Result<SeenLaunches> from_report(const LabRequest& request, const LabTools& tools,
                                 const LabServices& services) {
  const std::string ending = request.nsys_report.extension().string();
  if (ending != ".nsys-rep" && ending != ".qdrep") {
    return from_sqlite(request.nsys_report, request.ncu);
  }
  if (!tools.nsys) {
    return Error(ErrorKind::NotFound,
                 request.nsys_report.string() +
                     " can only be read with nsys, which was not found; give its .sqlite instead");
  }
  const fs::path sqlite = request.folder / "count" / "report.sqlite";
  PL_TRY(nsys::export_sqlite(services.processes, tools.nsys->program, request.nsys_report, sqlite));
  return from_sqlite(sqlite, request.ncu);
}

settings::Nsys counting_options(const nsys::Installation& nsys) {
  settings::Nsys options;
  options.trace = schema::CommaList{{"cuda", "nvtx"}};
  options.sample = settings::CpuSampling::None;
  // Otherwise the kernels of a graph are not recorded individually.
  const bool has_nodes = !nsys.options.empty() && nsys.takes("--cuda-graph-trace");
  if (has_nodes) options.cuda_graph_trace = settings::GraphTrace::Node;
  return options;
}

Result<SeenLaunches> by_nsys(const LabRequest& request, const LabTools& tools,
                             const LabServices& services) {
  const fs::path folder = request.folder / "count";
  const nsys::Capture capture{.session = nsys::session_name(request.folder, "count"),
                              .output = folder / "run"};
  Command command =
      nsys::profile_command(*tools.nsys, counting_options(*tools.nsys), capture, request.program);
  command.log = folder / "program.log";
  NsysRun observer(tools.nsys->program, capture.session, services.progress);
  const Exit exit = PL_TRY(services.processes.run(command, observer));
  if (exit.why == Exit::Why::Cancelled) return cancelled();
  if (!exit.succeeded()) {
    return Error(ErrorKind::Tool, fmt::format("the program under nsys {} while its launches were "
                                              "counted; see {} for its output",
                                              exit.describe(), command.log.string()));
  }
  const fs::path sqlite = folder / "run.sqlite";
  PL_TRY(nsys::export_sqlite(services.processes, tools.nsys->program, folder / "run.nsys-rep",
                             sqlite));
  SeenLaunches seen = PL_TRY(from_sqlite(sqlite, request.ncu));
  seen.program = exit.wall;
  return seen;
}

Result<SeenLaunches> by_ncu(const LabRequest& request, std::span<const WantedKernel> kernels,
                            const LabTools& tools, const LabServices& services) {
  const fs::path csv = request.folder / "count" / "launches.csv";
  const Command command =
      counting_command(tools.ncu, request.ncu, any_of(kernels), csv, request.program);
  Ticking observer(services.progress);
  const Exit exit = PL_TRY(services.processes.run(command, observer));
  if (exit.why == Exit::Why::Cancelled) return cancelled();
  const std::string log = read_file(csv).value_or("");
  const ncu::Messages messages = ncu::read_messages(log);
  SeenLaunches seen;
  seen.source = "ncu";
  if (messages.nothing_profiled.empty()) {
    auto report = ncu::read_csv(log, {.source = csv.string(), .keep = {}});
    if (!report) {
      return std::move(report).error().during("counting launches with ncu, which " +
                                              exit.describe());
    }
    seen = seen_launches(*report, ranges_of(request.ncu));
  } else if (!messages.errors.empty()) {
    return Error(ErrorKind::Tool, "counting launches with ncu: " + messages.errors.front());
  }
  seen.program = exit.wall;
  return seen;
}

}  // namespace

Result<std::optional<SeenLaunches>> count_launches(const LabRequest& request,
                                                   std::span<const WantedKernel> kernels,
                                                   const LabTools& tools,
                                                   const LabServices& services) {
  if (request.nsys_report.empty() && request.count_by == CountBy::Nothing) {
    return std::optional<SeenLaunches>();
  }
  PL_TRY(create_folders(request.folder / "count"));
  Step step(services.progress, "count");
  auto seen = [&]() -> Result<SeenLaunches> {
    if (!request.nsys_report.empty()) return from_report(request, tools, services);
    const bool with_nsys = request.count_by != CountBy::Ncu && tools.nsys;
    if (!with_nsys && request.count_by == CountBy::Nsys) {
      return Error(ErrorKind::NotFound, "--count nsys needs nsys, which was not found");
    }
    return with_nsys ? by_nsys(request, tools, services)
                     : by_ncu(request, kernels, tools, services);
  }();
  if (!seen) {
    const bool is_cancelled = seen.error().kind() == ErrorKind::Cancelled;
    step.end(is_cancelled ? StepOutcome::Cancelled : StepOutcome::Failed);
    return std::move(seen).error();
  }
  step.end(StepOutcome::Ok, fmt::format("{} of {}, by {}", counted(seen->launches.size(), "launch"),
                                        counted(seen->names.size(), "kernel"), seen->source));
  return std::optional(*std::move(seen));
}

}  // namespace profline::kernel_lab
