#include "pipeline/internal/live_stage_run.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "process/background.h"
#include "process/runner.h"
#include "workloads/program/environment.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_part(const FileDescriptor& file, const fs::path& path, std::uint64_t from,
                              std::uint64_t length) {
  std::string bytes(length, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

/// The beginning and the end, in whole lines where possible, with a line between them.
std::string cut(std::string head, std::string tail, std::uint64_t size, std::uint64_t& left_out) {
  constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
  const std::size_t last = head.rfind('\n');
  if (last != std::string::npos && head.size() - last < kLongestLine) head.resize(last + 1);
  const std::size_t first = tail.find('\n');
  if (first != std::string::npos && first < kLongestLine) tail.erase(0, first + 1);
  left_out = size - head.size() - tail.size();
  const std::string gap = head.ends_with('\n') ? "" : "\n";
  return head + gap + "[profline: " + human_bytes(left_out) +
         " of output left out here; the first " + human_bytes(kLogHeadBytes) + " and the last " +
         human_bytes(kLogTailBytes) + " are kept]\n" + tail;
}

std::int64_t nanoseconds(Clock::Steady from, Clock::Steady to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

using std::chrono::milliseconds;

std::int64_t nanoseconds(std::chrono::nanoseconds duration) {
  return duration.count();
}

/// Records the child's identity as soon as it has one, shows its output, and passes everything on.
class Relay final : public RunObserver {
 public:
  Relay(RunObserver* next, Progress& progress, std::function<void(const ProcessId&)> on_start)
      : next_(next), output_(progress), on_start_(std::move(on_start)) {}

  void started(const ProcessId& child) override {
    on_start_(child);
    if (next_ != nullptr) next_->started(child);
  }
  void output(std::string_view bytes) override {
    output_.take(bytes);
    if (next_ != nullptr) next_->output(bytes);
  }
  void outlived() override {
    if (next_ != nullptr) next_->outlived();
  }
  void abandoned() override {
    if (next_ != nullptr) next_->abandoned();
  }

 private:
  RunObserver* next_;
  ChildOutput output_;
  std::function<void(const ProcessId&)> on_start_;
};

CommandRecord record_of(const PlannedCommand& planned, const fs::path& run) {
  CommandRecord record;
  record.name = planned.name;
  record.argv = planned.command.argv;
  record.env = planned.command.env;
  record.unset_env = planned.command.unset_env;
  record.cwd = planned.command.cwd.string();
  record.log = planned.command.log.empty() ? "" : planned.command.log.lexically_relative(run);
  return record;
}

}  // namespace

Result<std::uint64_t> settle_log(const fs::path& log, const Redactor& redactor) {
  auto file = open_for_reading(log);
  if (!file && file.error().kind() == ErrorKind::NotFound) return std::uint64_t{0};
  if (!file) return std::move(file).error();
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return os_error("read", log, errno);
  if (!S_ISREG(status.st_mode)) return std::uint64_t{0};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t left_out = 0;
  std::string text;
  if (size > kLogHeadBytes + kLogTailBytes) {
    std::string head = PL_TRY(read_part(*file, log, 0, kLogHeadBytes));
    text = cut(std::move(head), PL_TRY(read_part(*file, log, size - kLogTailBytes, kLogTailBytes)),
               size, left_out);
  } else {
    text = PL_TRY(read_part(*file, log, 0, size));
  }
  const std::string kept = redactor.output(text);
  if (left_out > 0 || kept != text) PL_TRY(write_private_file(log, kept));
  return left_out;
}

TimeAccount::TimeAccount(const Clock& clock) : clock_(clock), start_(clock.now()), last_(start_) {}

void TimeAccount::charge() {
  const Clock::Steady now = clock_.now();
  const std::int64_t passed = nanoseconds(last_, now);
  last_ = now;
  spent_ns_[static_cast<std::size_t>(open_.back())] += passed;
  if (open_.back() == Activity::Own) own_since_child_ns_ += passed;
}

void TimeAccount::open(Activity activity) {
  charge();
  if (activity == Activity::Child) {
    if (had_child_) between_children_ns_ += own_since_child_ns_;
    had_child_ = true;
  }
  open_.push_back(activity);
}

void TimeAccount::close() {
  PL_ASSERT(open_.size() > 1, "only an open activity is closed");
  charge();
  if (open_.back() == Activity::Child) own_since_child_ns_ = 0;
  open_.pop_back();
}

RunTiming TimeAccount::timing() const {
  TimeAccount now = *this;
  now.charge();
  const auto spent = [&](Activity activity) {
    return now.spent_ns_[static_cast<std::size_t>(activity)];
  };
  RunTiming timing;
  timing.total_ns = nanoseconds(start_, now.last_);
  timing.children_ns = spent(Activity::Child);
  timing.reading_ns = spent(Activity::Reading);
  timing.digesting_ns = spent(Activity::Digesting);
  timing.reporting_ns = spent(Activity::Reporting);
  timing.between_children_ns = between_children_ns_;
  return timing;
}

StageTiming spent_since(const RunTiming& before, const RunTiming& now) {
  StageTiming timing;
  timing.total_ns = now.total_ns - before.total_ns;
  timing.children_ns = now.children_ns - before.children_ns;
  timing.reading_ns = now.reading_ns - before.reading_ns;
  timing.digesting_ns = now.digesting_ns - before.digesting_ns;
  return timing;
}

LiveStageRun::LiveStageRun(const RunServices& services, run::RunJournal& journal,
                           TimeAccount& account, StageRecord& record,
                           std::optional<milliseconds> timeout)
    : services_(services),
      log_(services.log.with_context("stage " + record.name)),
      journal_(journal),
      account_(account),
      record_(record),
      started_(services.clock.now()),
      timeout_(timeout) {
  if (timeout) deadline_ = started_ + *timeout;
}

/// A child beside the stage, and its place in the record.
class LiveStageRun::Child final : public StageChild {
 public:
  Child(LiveStageRun& run, PlannedCommand planned, std::size_t index,
        std::unique_ptr<BackgroundChild> child)
      : run_(run),
        planned_(std::move(planned)),
        index_(index),
        time_(run.account_, TimeAccount::Activity::Child),
        child_(std::move(child)) {}
  ~Child() override {
    constexpr std::chrono::seconds kLong{60};  // the runner gives up long before
    child_->kill();
    wait(kLong);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const ProcessId& process() const override { return child_->process(); }
  const Exit* wait(std::chrono::milliseconds at_most) override {
    const Exit* exit = child_->wait(at_most);
    if (exit == nullptr || is_noted_) return exit;
    is_noted_ = true;
    run_.settle(planned_);
    const bool was_cancelled = run_.cancelled_;
    run_.note_end(run_.record_.commands[index_], planned_, *exit);
    // A stage ends such children itself; whether the user asked for that is another question.
    run_.cancelled_ = was_cancelled || run_.services_.interrupt.requested();
    return exit;
  }
  void kill() override { child_->kill(); }

 private:
  LiveStageRun& run_;
  PlannedCommand planned_;
  std::size_t index_;
  TimeAccount::Span time_;
  std::unique_ptr<BackgroundChild> child_;
  bool is_noted_ = false;
};

Result<std::unique_ptr<StageChild>> LiveStageRun::start(const PlannedCommand& planned,
                                                        RunObserver* observer) {
  if (services_.interrupt.requested()) {
    cancelled_ = true;
    return Error(ErrorKind::Cancelled, "interrupted");
  }
  const std::size_t index = PL_TRY(enter(planned));
  auto child = BackgroundChild::start(planned.command, {}, observer);
  if (!child) {
    record_.commands[index].end = "never ran: " + child.error().to_string();
    log_.error(planned.name + ": " + child.error().to_string());
    return std::move(child).error();
  }
  enter_process(index, (*child)->process());
  return std::unique_ptr<StageChild>(
      std::make_unique<Child>(*this, planned, index, std::move(*child)));
}

bool LiveStageRun::is_out_of_time() {
  if (!deadline_ || services_.clock.now() < *deadline_) return false;
  if (timed_out_) return true;
  timed_out_ = true;
  report({Severity::Warning, "timeout",
          "stopped after " + human_elapsed(*timeout_) +
              ", the stage's timeout; what was captured is kept",
          "give it longer: pipeline." + record_.name + ".timeout=SECONDS, or null"});
  return true;
}

void LiveStageRun::transition(const std::string& name, const std::string& note) {
  const double since_s = std::chrono::duration<double>(services_.clock.now() - started_).count();
  const std::string kept = journal_.redactor().text(note);
  record_.transitions.push_back({name, utc_timestamp(services_.clock.wall_now()), since_s, kept});
  const std::string text = name + (kept.empty() ? "" : ": " + kept);
  log_.info(text);
  constexpr double kNs = 1e9;
  services_.progress.message(record_.name + ": " + duration(since_s * kNs) + "  " + text);
}

std::optional<milliseconds> LiveStageRun::time_left() const {
  if (!deadline_) return std::nullopt;
  if (timed_out_) return kAfterTimeout;
  const auto left = std::chrono::duration_cast<milliseconds>(*deadline_ - services_.clock.now());
  return std::max(left, milliseconds(1));
}

Result<std::size_t> LiveStageRun::enter(const PlannedCommand& planned) {
  const Command& command = planned.command;
  if (!command.log.empty()) PL_TRY(create_folders(command.log.parent_path()));
  const auto recorded = command.env.find(program::kRecordDir);
  if (recorded != command.env.end()) PL_TRY(create_folders(recorded->second));
  log_.info(planned.name + ": " + display(redacted(command, journal_.redactor())));
  record_.commands.push_back(record_of(planned, journal_.folder()));
  record_.commands.back().started = utc_timestamp(services_.clock.wall_now());
  return record_.commands.size() - 1;
}

void LiveStageRun::enter_process(std::size_t index, const ProcessId& child) {
  record_.commands[index].process = {child.pid, child.start_ticks};
  save();
  keep(journal_.write_deferred());
}

Result<Exit> LiveStageRun::execute(const PlannedCommand& planned, RunObserver* observer) {
  if (services_.interrupt.requested()) {
    cancelled_ = true;
    return Error(ErrorKind::Cancelled, "interrupted");
  }
  Command command = planned.command;
  const auto left = time_left();
  const bool is_stage_limit = left && (!command.timeout || *left <= *command.timeout);
  if (is_stage_limit) command.timeout = *left;
  const std::size_t index = PL_TRY(enter(planned));
  const MemoryKills kills_before = memory_kills();
  Relay relay(observer, services_.progress,
              [&](const ProcessId& child) { enter_process(index, child); });
  auto exit = [&] {
    const TimeAccount::Span span(account_, TimeAccount::Activity::Child);
    return services_.processes.run(command, relay);
  }();
  if (!exit) {
    cancelled_ |= exit.error().kind() == ErrorKind::Cancelled;
    last_end_ = CommandEnd::NeverRan;
    record_.commands[index].end = "never ran: " + exit.error().to_string();
    log_.error(planned.name + ": " + exit.error().to_string());
    return exit;
  }
  settle(planned);
  note_end(record_.commands[index], planned, *exit);
  if (exit->why == Exit::Why::TimedOut && is_stage_limit) report_timeout(planned);
  if (!exit->succeeded()) {
    auto finding = out_of_memory(planned, *exit, kills_before, memory_kills());
    if (finding) report(std::move(*finding));
  }
  return exit;
}

/// Prepares the child's output for keeping.
void LiveStageRun::settle(const PlannedCommand& planned) {
  for (const fs::path& log : planned.more_logs) {
    const auto settled = settle_log(log, journal_.redactor());
    if (!settled) log_.warning(planned.name + ": " + settled.error().to_string());
  }
  if (planned.command.log.empty()) return;
  const auto left_out = settle_log(planned.command.log, journal_.redactor());
  if (!left_out) log_.warning(planned.name + ": " + left_out.error().to_string());
  if (!left_out || *left_out == 0) return;
  report({Severity::Note, "log_cut",
          planned.name + " printed a lot: its log keeps the first " + human_bytes(kLogHeadBytes) +
              " and the last " + human_bytes(kLogTailBytes) + ", and " + human_bytes(*left_out) +
              " between them were left out"});
}

void LiveStageRun::note_end(CommandRecord& record, const PlannedCommand& planned,
                            const Exit& exit) {
  record.wall_ns = nanoseconds(exit.wall);
  record.cpu_user_ns = nanoseconds(exit.cpu_user);
  record.cpu_system_ns = nanoseconds(exit.cpu_system);
  record.max_rss_bytes = exit.max_rss_bytes;
  if (exit.code) record.code = *exit.code;
  if (exit.signal) record.signal = *exit.signal;
  record.end = exit.describe();
  last_end_ = exit.why == Exit::Why::Cancelled ? CommandEnd::Cancelled : CommandEnd::Other;
  log_.info(planned.name + ": " + exit.describe() + " after " + human_elapsed(exit.wall));
  cancelled_ |= exit.why == Exit::Why::Cancelled;
  const std::string left = exit.describe_leftovers();
  if (!left.empty()) report({Severity::Note, "leftovers", planned.name + " " + left});
}

void LiveStageRun::report_timeout(const PlannedCommand& planned) {
  const bool is_first = !timed_out_;
  timed_out_ = true;
  const std::string limit = human_elapsed(is_first ? *timeout_ : kAfterTimeout);
  report({Severity::Warning, "timeout",
          planned.name + " was ended after " + limit +
              (is_first ? ", the stage's timeout; what it captured is kept"
                        : ", the time limit after the stage's timeout"),
          "give it longer: pipeline." + record_.name + ".timeout=SECONDS, or null"});
}

void LiveStageRun::report(Finding finding) {
  finding.text = journal_.redactor().text(finding.text);  // it may quote what a child printed
  std::string text = record_.name + ": " + finding.text;
  if (!finding.fix.empty()) text += "; " + finding.fix;
  switch (finding.severity) {
    case Severity::Note:
      services_.progress.detail(text);
      log_.info(finding.text);
      break;
    case Severity::Warning:
      services_.progress.warning(text);
      log_.warning(finding.text);
      break;
    case Severity::Problem:
      services_.progress.error(text);
      log_.error(finding.text);
      has_problem_ = true;
      break;
  }
  record_.findings.push_back(std::move(finding));
}

void LiveStageRun::skip(Finding why) {
  why.severity = Severity::Problem;  // as of a stage that its preflight skips
  why.text = journal_.redactor().text(why.text);
  log_.info("skipped: " + why.text);
  record_.findings.push_back(std::move(why));
  skipped_ = true;
}

void LiveStageRun::keep_capture(std::string sqlite, Timeline capture) {
  // Keeps up to about a gigabyte of captures in memory; larger ones are read again, one at a time.
  constexpr std::size_t kMostRows = 8'000'000;
  const auto rows_of = [](const Timeline& one) {
    return one.work.size() + one.calls.size() + one.ranges.size() + one.operators.size();
  };
  std::size_t rows = rows_of(capture);
  for (const KeptCapture& kept : captures_) rows += rows_of(kept.timeline);
  if (rows <= kMostRows) captures_.push_back({std::move(sqlite), std::move(capture)});
}

const Timeline* LiveStageRun::kept_capture(std::string_view sqlite) const {
  const auto kept = std::find_if(captures_.begin(), captures_.end(),
                                 [&](const KeptCapture& one) { return one.sqlite == sqlite; });
  return kept == captures_.end() ? nullptr : &kept->timeline;
}

void LiveStageRun::read(const std::function<void()>& reading) {
  const TimeAccount::Span span(account_, TimeAccount::Activity::Reading);
  reading();
}

void LiveStageRun::remember_session(const std::string& name) {
  record_.sessions.push_back(name);  // saved when the child that opens it starts
}

void LiveStageRun::save() {
  keep(journal_.save());
}

void LiveStageRun::keep(Result<void> written) {
  if (!written && !journal_error_) journal_error_ = std::move(written).error();
}

}  // namespace profline::pipeline
