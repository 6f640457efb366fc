#include "kernel_lab/lab.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "analysis/counter_budget/budget.h"
#include "analysis/kernels/canonical_name.h"
#include "base/atomic_file.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/yaml.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/internal/capture.h"
#include "kernel_lab/launches.h"
#include "process/runner.h"
#include "schema/diff.h"
#include "schema/read.h"

namespace profline::kernel_lab {
namespace {

constexpr std::array kDecisive = {"launch_skip",  "launch_count", "launches_spread",
                                  "launch_range", "ncu_cli",      "launch_command",
                                  "working_dir"};

Node decisive_part(const CommandFile& file) {
  const Node whole = schema::write(file);
  NodeMap part;
  for (const char* key : kDecisive) part.set(key, *whole.find(key));
  return Node::map(std::move(part));
}

namespace fs = std::filesystem;

Result<void> check_same_command(const LabRequest& request, const fs::path& file) {
  const auto text = read_file(file);
  if (!text) {
    if (text.error().kind() == ErrorKind::NotFound) return {};
    return text.error();
  }
  const auto before = parse_command_file(*text, file.string());
  const std::vector<std::string> changes =
      before ? differences(*before, request.command)
             : std::vector<std::string>{"its command.yaml belongs to another program"};
  if (changes.empty()) return {};
  return Error(ErrorKind::Config, request.folder.string() + " holds captures of another command (" +
                                      join(changes, "; ") +
                                      "); name another --output-dir, or replace them with "
                                      "--force-overwrite");
}

/// Claims the folder for this command by writing command.yaml. An Error if it holds captures of
/// another command and must not be overwritten.
Result<void> take_folder(const LabRequest& request) {
  const fs::path file = request.folder / kCommandFile;
  if (!request.force_overwrite) PL_TRY(check_same_command(request, file));
  PL_TRY(create_folders(request.folder));
  return write_private_file(file, to_yaml(request.command));
}

/// The record of a kernel that was finished here before; nothing if it was not, or must be redone.
std::optional<CaptureRecord> finished_before(const LabRequest& request, const WantedKernel& kernel,
                                             const std::string& folder) {
  if (request.force_overwrite) return std::nullopt;
  const fs::path file = request.folder / folder / kCaptureFile;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  auto record = from_document<CaptureRecord>(*text, file.string());
  const bool is_it = record && record->state == CaptureState::Ok && record->regex == kernel.regex;
  return is_it ? std::optional(*std::move(record)) : std::nullopt;
}

Result<void> write_record(const LabRequest& request, const CaptureRecord& record) {
  const fs::path folder = request.folder / record.folder;
  PL_TRY(create_folders(folder));
  return write_private_file(folder / kCaptureFile, PL_TRY(to_document(record)));
}

/// Where launches were looked for, and how to look elsewhere; empty: everywhere.
std::string only_in_ranges(const settings::Ncu& ncu) {
  const auto& include = ncu.ncu_cli.nvtx.include;
  if (!include || include->items.empty()) return {};
  return fmt::format(
      "{}; --nvtx-include RANGE looks in another range, --nvtx-include '' everywhere",
      join(include->items, ", "));
}

std::string none_matched(const SeenLaunches& seen, const WantedKernel& kernel,
                         const KernelLaunches& there, const settings::Ncu& ncu) {
  if (there.outside > 0) {
    return fmt::format("'{}' is launched {}, but never inside {}", kernel.regex,
                       there.outside == 1 ? "once" : fmt::format("{} times", there.outside),
                       only_in_ranges(ncu));
  }
  std::string text =
      fmt::format("no kernel matched '{}': {} saw {} of {}", kernel.regex, seen.source,
                  counted(seen.launches.size(), "launch"), counted(seen.names.size(), "kernel"));
  const std::vector<std::string> similar = similar_names(seen, kernel);
  if (!similar.empty()) text += ", among them " + join(similar, ", ");
  return text;
}

/// One whole run, kernel after kernel.
class LabRun {
 public:
  LabRun(const LabRequest& request, const LabTools& tools, const LabServices& services)
      : request_(request), tools_(tools), services_(services) {}

  Result<LabOutcome> run() {
    PL_TRY(take_folder(request_));
    list_kernels();
    if (!pending_.empty()) {
      PL_TRY(choose());
      PL_TRY(profile());
    }
    LabOutcome outcome;
    outcome.was_cancelled = was_cancelled_;
    outcome.budget = budget_words_;
    for (auto& record : records_) {
      if (record) outcome.kernels.push_back(std::move(*record));
    }
    return outcome;
  }

 private:
  void list_kernels() {
    const std::size_t count = request_.kernels.size();
    records_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      ChosenKernel kernel;
      kernel.rank = i + 1;
      kernel.kernel = request_.kernels[i];
      kernel.folder = kernel_folder(kernel.rank, count, kernel.kernel.name);
      records_[i] = finished_before(request_, kernel.kernel, kernel.folder);
      if (!records_[i]) pending_.push_back(std::move(kernel));
    }
    const std::size_t kept = count - pending_.size();
    if (kept > 0) {
      services_.progress.message(fmt::format("{} of {} {} already complete and kept", kept,
                                             counted(count, "kernel"), kept == 1 ? "is" : "are"));
    }
  }

  Result<void> choose() {
    std::vector<WantedKernel> wanted;
    for (const ChosenKernel& kernel : pending_) wanted.push_back(kernel.kernel);
    const auto seen = PL_TRY(count_launches(request_, wanted, tools_, services_));
    if (!seen) {
      const std::string ranges = only_in_ranges(request_.ncu);
      if (!ranges.empty()) counted_ = " inside " + ranges;
      for (ChosenKernel& kernel : pending_) kernel.choice = choose_uncounted(request_.launches);
      return {};
    }
    if (seen->program) program_ = {*seen->program, seen->launches.size()};
    counted_ = ", though " + seen->source + " saw it: its name may be spelled differently there";
    auto census = take_census(*seen, wanted);
    if (!census) return std::move(census).error();
    if (seen->source == "ncu" && wanted.size() == 1) take_all(*seen, census->front());
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      PL_TRY(choose_for(*seen, (*census)[i], pending_[i]));
    }
    std::erase_if(pending_, [](const ChosenKernel& kernel) { return kernel.choice.count == 0; });
    return {};
  }

  /// ncu counted only launches that its own filter matched.
  static void take_all(const SeenLaunches& seen, KernelLaunches& there) {
    if (!there.launches.empty() || there.outside > 0) return;
    there.functions = seen.names;
    std::vector<std::uint32_t> invocations(seen.names.size(), 0);
    for (std::size_t place = 0; place < seen.launches.size(); ++place) {
      const SeenLaunch& launch = seen.launches[place];
      const std::uint32_t number = ++invocations[launch.name];
      if (!launch.is_inside) continue;
      there.launches.push_back(
          {launch.name, number, launch.duration_ns, place, launch.exclusive_ns});
    }
  }

  /// A kernel without a choice (count 0) has failed, and a record says why.
  Result<void> choose_for(const SeenLaunches& seen, const KernelLaunches& there,
                          ChosenKernel& kernel) {
    kernel.launches = there.launches.size();
    kernel.total_ns = there.total_ns();
    if (there.launches.empty()) {
      return give_up(kernel, none_matched(seen, kernel.kernel, there, request_.ncu));
    }
    if (!seen.ignored_ranges.empty()) {
      kernel.choice = choose_uncounted(request_.launches);
      kernel.launches.reset();
      return {};
    }
    auto choice = choose_launches(request_.launches, there);
    if (!choice) return give_up(kernel, choice.error().message());
    kernel.choice = *std::move(choice);
    for (const Launch& launch : there.launches) kernel.places.push_back(launch.place);
    kernel.is_free = !request_.launches.skip && !request_.launches.window;
    const std::vector<std::uint32_t>& numbers = kernel.choice.invocations;
    if (!numbers.empty() && !kernel_id(kernel.kernel.regex, numbers)) {
      return give_up(kernel, "'" + kernel.kernel.regex +
                                 "' has a colon that ncu would misread, as in [[:alpha:]] or (?i:, "
                                 "so single launches cannot be selected");
    }
    return {};
  }

  Result<void> give_up(ChosenKernel& kernel, std::string problem) {
    CaptureRecord record = begun_record(kernel);
    record.problem = std::move(problem);
    kernel.choice.count = 0;
    return finish(std::move(record), kernel.rank);
  }

  Result<void> finish(CaptureRecord record, std::size_t rank) {
    PL_TRY(write_record(request_, record));
    if (record.state == CaptureState::Failed && !was_cancelled_) {
      services_.progress.error(record.folder.substr(0, record.folder.rfind('_')) + ": " +
                               record.problem);
    }
    records_[rank - 1] = std::move(record);
    return {};
  }

  Collected collected() const {
    const settings::NcuCli& cli = request_.ncu.ncu_cli;
    const std::vector<std::string> sections =
        cli.sections ? cli.sections->items : std::vector<std::string>();
    const std::size_t metrics = cli.metrics ? cli.metrics->items.size() : 0;
    return {counter_budget::expected_passes(cli.set, sections, metrics),
            export_commands(tools_.ncu, request_.ncu, "r", "f", std::nullopt).size()};
  }

  Result<void> leave_out(const ChosenKernel& kernel) {
    CaptureRecord record = begun_record(kernel);
    record.state = CaptureState::LeftOut;
    record.problem = fmt::format("no time left in the budget of {} s", *request_.command.budget_s);
    return finish(std::move(record), kernel.rank);
  }

  /// Leaves out the kernels for which there is no time, and says what the others cover.
  Result<void> keep_to_budget() {
    const std::chrono::nanoseconds budget = std::chrono::seconds(*request_.command.budget_s);
    if (!program_) return {};  // run_all() stops in time
    const BudgetedKernels fitting =
        fit_budget(pending_, request_.command.merge, collected(), *program_, budget);
    if (std::count(fitting.is_kept.begin(), fitting.is_kept.end(), true) == 0) {
      return Error(
          ErrorKind::Config,
          fmt::format("--budget-s {} is too short: the program took {}, and ncu runs it at "
                      "least once",
                      *request_.command.budget_s, human_elapsed(program_->time)));
    }
    std::vector<ChosenKernel> kept;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (fitting.is_kept[i]) {
        kept.push_back(std::move(pending_[i]));
      } else {
        PL_TRY(leave_out(pending_[i]));
      }
    }
    if (fitting.all_ns > 0) {
      services_.progress.message(fmt::format("{} of {} within {} s, with {} of their time",
                                             kept.size(), counted(pending_.size(), "kernel"),
                                             *request_.command.budget_s,
                                             percent(fitting.coverage())));
    }
    pending_ = std::move(kept);
    return {};
  }

  void report_estimate(const std::vector<Pass>& passes) {
    const std::string what = counted(pending_.size(), "kernel") + " in " +
                             counted(passes.size(), "run") + " of the program";
    if (!program_) {
      services_.progress.message(what + "; the duration is known after the first one");
      return;
    }
    expected_ = estimate(passes, collected(), *program_);
    services_.progress.message(
        fmt::format("{}, about {}: it took {} while its launches were counted", what,
                    human_elapsed(*expected_), human_elapsed(program_->time)));
  }

  /// Whether another run like the longest one so far would end too late.
  bool is_out_of_time(Clock::Steady begin) const {
    if (!request_.command.budget_s || longest_.count() == 0) return false;
    return services_.clock.now() - begin + longest_ >
           std::chrono::seconds(*request_.command.budget_s);
  }

  /// What became of the budget.
  void report_budget(Clock::Steady begin) {
    if (!request_.command.budget_s) return;
    std::size_t captured = 0;
    for (const auto& record : records_) captured += record && record->state == CaptureState::Ok;
    budget_words_ =
        fmt::format("{} of {} captured in {} of {} s", captured, counted(records_.size(), "kernel"),
                    human_elapsed(services_.clock.now() - begin), *request_.command.budget_s);
    if (total_ns_ > 0) {
      budget_words_ +=
          fmt::format(", with {} of their time",
                      percent(static_cast<double>(captured_ns_) / static_cast<double>(total_ns_)));
    }
    if (expected_) budget_words_ += fmt::format("; {} were expected", human_elapsed(*expected_));
  }

  Result<void> profile() {
    for (const ChosenKernel& kernel : pending_) total_ns_ += kernel.total_ns;
    if (request_.command.budget_s) PL_TRY(keep_to_budget());
    const Passes plan = plan_passes(pending_, request_.command.merge);
    for (const std::string& why : plan.not_merged) services_.progress.warning(why);
    if (plan.passes.empty()) return {};
    report_estimate(plan.passes);
    passes_ = plan.passes;
    const Clock::Steady begin = services_.clock.now();
    for (std::size_t i = 0; i < passes_.size() && !was_cancelled_; ++i) {
      if (is_out_of_time(begin)) {
        for (const std::size_t kernel : passes_[i].kernels) PL_TRY(leave_out(pending_[kernel]));
        continue;
      }
      const Clock::Steady before = services_.clock.now();
      PL_TRY(run_one(Pass(passes_[i]), i, begin));
      longest_ = std::max<std::chrono::nanoseconds>(longest_, services_.clock.now() - before);
    }
    report_budget(begin);
    return {};
  }

  Result<void> run_one(const Pass& pass, std::size_t index, Clock::Steady begin) {
    const std::size_t count = passes_.size();
    Step step(services_.progress, fmt::format("kernel {}/{}", index + 1, count));
    PassResult result = PL_TRY(run_pass(request_, tools_, services_, pending_, pass, counted_));
    was_cancelled_ = result.was_cancelled;
    const auto is_done = [](const CaptureRecord& record) {
      return record.state == CaptureState::Ok;
    };
    const bool is_ok = std::any_of(result.records.begin(), result.records.end(), is_done);
    const auto so_far = services_.clock.now() - begin;
    const std::size_t left = count - index - 1;
    const std::string ahead =
        left == 0 ? ""
                  : fmt::format(", about {} left",
                                human_elapsed(so_far / static_cast<std::int64_t>(index + 1) *
                                              static_cast<std::int64_t>(left)));
    const std::string note = note_of(pass) + ahead;
    step.end(was_cancelled_ ? StepOutcome::Cancelled
             : is_ok        ? StepOutcome::Ok
                            : StepOutcome::Failed,
             note);
    for (std::size_t i = 0; i < result.records.size(); ++i) {
      CaptureRecord& record = result.records[i];
      if (is_ok && !is_done(record)) {
        // ncu counts launches of some libraries' kernels differently from nsys.
        services_.progress.warning(record.folder +
                                   " was not among them and is profiled separately");
        passes_.push_back(own_pass(pending_, pass.kernels[i]));
      } else {
        if (is_done(record)) captured_ns_ += pending_[pass.kernels[i]].total_ns;
        PL_TRY(finish(std::move(record), pending_[pass.kernels[i]].rank));
      }
    }
    return {};
  }

  std::string note_of(const Pass& pass) const {
    if (pass.is_merged()) return fmt::format("{} kernels together", pass.kernels.size());
    const ChosenKernel& kernel = pending_[pass.kernels.front()];
    const bool has_name = kernel.kernel.name != kUnnamed;
    const std::string name =
        has_name ? kernels::canonical_name(kernel.kernel.name).short_name : kernel.kernel.regex;
    return name + ": " + pass.choice.reason;
  }

  const LabRequest& request_;
  const LabTools& tools_;
  const LabServices& services_;
  std::vector<ChosenKernel> pending_;
  std::vector<std::optional<CaptureRecord>> records_;  // by rank
  std::vector<Pass> passes_;                           // including the remaining ones
  std::optional<CountedProgram> program_;
  std::string counted_;
  std::optional<std::chrono::nanoseconds> expected_;
  std::chrono::nanoseconds longest_{0};  // of the runs so far
  std::int64_t total_ns_ = 0;            // of all launches of the kernels that could be captured
  std::int64_t captured_ns_ = 0;         // of those that were
  std::string budget_words_;
  bool was_cancelled_ = false;
};

}  // namespace

std::string to_yaml(const CommandFile& file) {
  return write_yaml(schema::write(file));
}

Result<CommandFile> parse_command_file(const std::string& text, const std::string& source) {
  return schema::read<CommandFile>(PL_TRY(parse_yaml(text, source)));
}

std::vector<std::string> differences(const CommandFile& before, const CommandFile& now) {
  std::vector<std::string> texts;
  for (const schema::Change& change : schema::diff(decisive_part(before), decisive_part(now))) {
    texts.push_back(change.to_string());
  }
  return texts;
}

bool LabOutcome::is_complete() const {
  return !was_cancelled &&
         std::all_of(kernels.begin(), kernels.end(), [](const CaptureRecord& record) {
           return record.state != CaptureState::Failed;
         });
}

std::filesystem::path fresh_folder(const Clock& clock, const std::filesystem::path& cwd) {
  const std::time_t now = std::chrono::system_clock::to_time_t(clock.wall_now());
  const std::string name = fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(now));
  std::filesystem::path folder = cwd / "tmp/ncu-profile" / name;
  std::error_code ignored;
  for (int n = 2; std::filesystem::exists(folder, ignored); ++n) {
    folder.replace_filename(fmt::format("{}-{}", name, n));
  }
  return folder;
}

Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name,
                                   const Result<gpu::Driver>& driver) {
  const Result<std::filesystem::path> program = find_program(name);
  if (!program) {
    return Error(ErrorKind::NotFound,
                 "'kernels profile' needs ncu, and " + program.error().message() +
                     "; install Nsight Compute, or name it with --ncu PROGRAM");
  }
  if (!driver) {
    return Error(ErrorKind::NotFound, "ncu needs a GPU: " + driver.error().message());
  }
  return ncu::survey(processes, *program, true);
}

std::optional<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name) {
  const auto program = nsys::choose_nsys(processes, name);
  if (!program) return std::nullopt;
  auto nsys = nsys::survey(processes, *program);
  return nsys ? std::optional(*std::move(nsys)) : std::nullopt;
}

Result<LabOutcome> run_lab(const LabRequest& request, const LabTools& tools,
                           const LabServices& services) {
  return LabRun(request, tools, services).run();
}

}  // namespace profline::kernel_lab
