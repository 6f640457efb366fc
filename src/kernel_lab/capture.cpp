#include "kernel_lab/internal/capture.h"

#include <set>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/redaction.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/counting.h"
#include "kernel_lab/explain.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/messages.h"

namespace profline::kernel_lab::internal {
namespace {

namespace fs = std::filesystem;

/// One pass while it runs.
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
  /// The tables of a kernel, and by them what was profiled.
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
      record.notes.push_back(fmt::format("{} to be profiled, and {}",
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

}  // namespace profline::kernel_lab::internal
