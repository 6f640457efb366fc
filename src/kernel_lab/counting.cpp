#include "kernel_lab/counting.h"

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "kernel_lab/capture_command.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/messages.h"
#include "tools/ncu/profile_command.h"
#include "tools/nsys/export.h"
#include "tools/nsys/profile_command.h"
#include "tools/nsys/session.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::kernel_lab {
namespace {

namespace fs = std::filesystem;

/// Both what an nsys that was killed leaves and the progress line.
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

/// A report that somebody made.
Result<SeenLaunches> from_report(const LabRequest& request, const LabTools& tools,
                                 const LabServices& services) {
  const std::string ending = request.nsys_report.extension().string();
  if (ending != ".nsys-rep" && ending != ".qdrep") {
    return from_sqlite(request.nsys_report, request.ncu);
  }
  if (!tools.nsys) {
    return Error(ErrorKind::NotFound,
                 request.nsys_report.string() +
                     " can only be read with nsys, which is not here; give its .sqlite instead");
  }
  const fs::path sqlite = request.folder / "count" / "report.sqlite";
  PL_TRY(nsys::export_sqlite(services.processes, tools.nsys->program, request.nsys_report, sqlite));
  return from_sqlite(sqlite, request.ncu);
}

settings::Nsys counting_options(const nsys::Installation& nsys) {
  settings::Nsys options;
  options.trace = schema::CommaList{{"cuda", "nvtx"}};
  options.sample = settings::CpuSampling::None;
  // Kernels of a graph are none of their own otherwise.
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
                                              "counted; {} has what it said",
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
      return Error(ErrorKind::NotFound, "--count nsys needs nsys, which is not here");
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
