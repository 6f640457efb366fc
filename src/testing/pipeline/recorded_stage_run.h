#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "pipeline/stage.h"
#include "process/interrupt.h"
#include "process/runner.h"

namespace profline::testing {

/// A StageRun for tests of single stages: runs commands with the given runner, and records what is
/// reported to it.
class RecordedStageRun final : public pipeline::StageRun {
 public:
  explicit RecordedStageRun(ProcessRunner& processes) : processes_(processes) {}

  Result<Exit> execute(const pipeline::PlannedCommand& planned, RunObserver* observer) override {
    names_.push_back(planned.name);
    if (!planned.command.log.empty()) {
      PL_TRY(create_folders(planned.command.log.parent_path()));
    }
    if (observer != nullptr) return processes_.run(planned.command, *observer);
    return processes_.run(planned.command);
  }
  Result<std::unique_ptr<pipeline::StageChild>> start(const pipeline::PlannedCommand& planned,
                                                      RunObserver* /*observer*/) override {
    names_.push_back(planned.name);
    return Error(ErrorKind::Io, "this run has no children beside the stage");
  }
  const Interrupt& interrupt() const override { return interrupt_; }
  bool is_out_of_time() override { return false; }
  void transition(const std::string& name, const std::string& /*note*/) override {
    transitions_.push_back(name);
  }
  ProcessRunner& processes() override { return processes_; }
  Progress& progress() override { return progress_; }
  const Log& log() override { return log_; }
  void report(pipeline::Finding finding) override { findings_.push_back(std::move(finding)); }
  void skip(pipeline::Finding why) override { skipped_.push_back(std::move(why)); }
  bool has_problem() const override {
    return std::any_of(findings_.begin(), findings_.end(), [](const pipeline::Finding& finding) {
      return finding.severity == Severity::Problem;
    });
  }
  void remember_session(const std::string& name) override { sessions_.push_back(name); }
  void keep_capture(std::string sqlite, Timeline capture) override {
    captures_.push_back(sqlite);
    kept_.insert_or_assign(std::move(sqlite), std::move(capture));
  }
  const Timeline* kept_capture(std::string_view sqlite) const override {
    const auto kept = kept_.find(sqlite);
    return kept == kept_.end() ? nullptr : &kept->second;
  }
  void read(const std::function<void()>& reading) override { reading(); }

  /// Names of the commands that were run, in order.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<pipeline::Finding>& findings() const { return findings_; }
  /// The reason for which the stage was skipped, if it was.
  const std::vector<pipeline::Finding>& skipped() const { return skipped_; }
  const std::vector<std::string>& sessions() const { return sessions_; }
  /// Exports of the captures that were passed on to the reports.
  const std::vector<std::string>& captures() const { return captures_; }

  const std::vector<std::string>& transitions() const { return transitions_; }

 private:
  ProcessRunner& processes_;
  Interrupt interrupt_;
  std::vector<std::string> transitions_;
  NullProgress progress_;
  Log log_ = Log::null();
  std::vector<std::string> names_;
  std::vector<pipeline::Finding> findings_;
  std::vector<pipeline::Finding> skipped_;
  std::vector<std::string> sessions_;
  std::vector<std::string> captures_;
  std::map<std::string, Timeline, std::less<>> kept_;
};

}  // namespace profline::testing
