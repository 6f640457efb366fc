#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/redaction.h"
#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"

/// The record of a run, `run.json`, and of each stage, `<stage>/status.json`. docs/formats/run.md
/// describes both.
namespace profline {

enum class Severity {
  Note,     ///< worth knowing: a limit, a translation
  Warning,  ///< the result is valid, but lacks something
  Problem,  ///< the result is invalid; in a preflight: the stage cannot run
};
constexpr auto names(std::type_identity<Severity>) {
  using schema::named;
  return std::array{named(Severity::Note, "note"), named(Severity::Warning, "warning"),
                    named(Severity::Problem, "problem")};
}

/// One thing the user should know about a stage: shown in the terminal, in status.json, in run.json
/// and in the report.
struct Finding {
  Severity severity = Severity::Note;
  std::string code;   ///< stable, for programs: `range_never_opened`
  std::string text;   ///< what was found: lower case, no full stop
  std::string fix{};  ///< what to do about it; empty: nothing to do
  /// For a Problem before anything runs: chooses the exit code, like that of an Error. Not written.
  ErrorKind kind = ErrorKind::NotFound;

  bool operator==(const Finding&) const = default;
};
constexpr auto fields(std::type_identity<Finding>) {
  using schema::field;
  return field_list(field("severity", &Finding::severity, "how much it matters").required(),
                    field("code", &Finding::code, "stable name, for programs").required(),
                    field("text", &Finding::text, "what was found").required(),
                    field("fix", &Finding::fix, "what to do about it; may be empty"));
}

constexpr const char* kRunSchema = "profline.run/1";
constexpr const char* kStatusSchema = "profline.status/1";

/// Identifies a process: pids are reused, a pid with its start time is not until the next boot.
struct ProcessRecord {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;

  bool operator==(const ProcessRecord&) const = default;
};
constexpr auto fields(std::type_identity<ProcessRecord>) {
  return field_list(
      field("pid", &ProcessRecord::pid, "as the kernel numbers it"),
      field("start_ticks", &ProcessRecord::start_ticks, "clock ticks from boot to its start"));
}

/// A complete file of the run.
struct ArtifactRecord {
  std::filesystem::path path;  ///< relative to the run's folder
  std::uint64_t bytes = 0;
  std::string sha256;

  bool operator==(const ArtifactRecord&) const = default;
};
constexpr auto fields(std::type_identity<ArtifactRecord>) {
  return field_list(field("path", &ArtifactRecord::path, "below the run's folder").required(),
                    field("bytes", &ArtifactRecord::bytes, "its size"),
                    field("sha256", &ArtifactRecord::sha256, "of its content"));
}

/// A child process.
struct CommandRecord {
  std::string name;
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::vector<std::string> unset_env;
  std::string cwd;
  std::string log;  ///< relative to the run's folder
  std::string started;
  std::int64_t wall_ns = 0;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;
  ProcessRecord process;
  std::optional<std::int64_t> code;
  std::optional<std::int64_t> signal;
  std::string end;  ///< empty while it runs

  bool operator==(const CommandRecord&) const = default;
};
constexpr auto fields(std::type_identity<CommandRecord>) {
  return field_list(
      field("name", &CommandRecord::name, "what it was for").required(),
      field("argv", &CommandRecord::argv, "program and arguments, as they reached it"),
      field("env", &CommandRecord::env, "variables added to our own"),
      field("unset_env", &CommandRecord::unset_env, "variables removed from our own"),
      field("cwd", &CommandRecord::cwd, "where it started"),
      field("log", &CommandRecord::log, "its output, below the run's folder"),
      field("started", &CommandRecord::started, "UTC"),
      field("wall_ns", &CommandRecord::wall_ns, "from start to end"),
      field("cpu_user_ns", &CommandRecord::cpu_user_ns, "including processes it waited for"),
      field("cpu_system_ns", &CommandRecord::cpu_system_ns, "including processes it waited for"),
      field("max_rss_bytes", &CommandRecord::max_rss_bytes, "largest resident set"),
      field("process", &CommandRecord::process, "which process it was"),
      field("code", &CommandRecord::code, "exit code; null: it did not exit"),
      field("signal", &CommandRecord::signal, "the signal that killed it; null: no signal"),
      field("end", &CommandRecord::end, "how it ended, in words; empty while it runs"));
}

/// A config value that a stage's workload got and the baseline's did not.
struct ChangeRecord {
  std::string key;
  Node value;
  std::string why;

  bool operator==(const ChangeRecord&) const = default;
};
constexpr auto fields(std::type_identity<ChangeRecord>) {
  return field_list(field("key", &ChangeRecord::key, "in the config").required(),
                    field("value", &ChangeRecord::value, "what it was changed to"),
                    field("why", &ChangeRecord::why, "the reason"));
}

enum class StageState {
  Off,          ///< not enabled
  Skipped,      ///< enable is auto and its preflight did not pass
  Pending,      ///< not started yet; in an ended run: never started
  Running,      ///< in a run that is gone: it was killed during this stage
  Ok,           ///< its result is valid; findings may say what it lacks
  Failed,       ///< it has a Problem among its findings
  TimedOut,     ///< ended after pipeline.<stage>.timeout; what was captured is kept
  Interrupted,  ///< the user stopped it
};
constexpr auto names(std::type_identity<StageState>) {
  return std::array{named(StageState::Off, "off"),
                    named(StageState::Skipped, "skipped"),
                    named(StageState::Pending, "pending"),
                    named(StageState::Running, "running"),
                    named(StageState::Ok, "ok"),
                    named(StageState::Failed, "failed"),
                    named(StageState::TimedOut, "timeout"),
                    named(StageState::Interrupted, "interrupted")};
}
std::string_view to_text(StageState state);

/// Where a stage's time went: its children, and profline's own work for it.
struct StageTiming {
  std::int64_t total_ns = 0;
  std::int64_t children_ns = 0;
  std::int64_t reading_ns = 0;  ///< verifying and summarising captures, minus children
  std::int64_t digesting_ns = 0;

  bool operator==(const StageTiming&) const = default;
};
constexpr auto fields(std::type_identity<StageTiming>) {
  return field_list(
      field("total_ns", &StageTiming::total_ns, "of the stage"),
      field("children_ns", &StageTiming::children_ns, "while a child ran"),
      field("reading_ns", &StageTiming::reading_ns, "verifying and summarising, minus children"),
      field("digesting_ns", &StageTiming::digesting_ns, "checksums of its files"));
}

/// Something that happened in a stage at a moment, in the life of a server.
struct TransitionRecord {
  std::string name;
  std::string at;
  double since_s = 0;
  std::string note;

  bool operator==(const TransitionRecord&) const = default;
};
constexpr auto fields(std::type_identity<TransitionRecord>) {
  return field_list(field("name", &TransitionRecord::name, "what happened: ready").required(),
                    field("at", &TransitionRecord::at, "UTC"),
                    field("since_s", &TransitionRecord::since_s, "since the stage's start"),
                    field("note", &TransitionRecord::note, "more about it"));
}

struct StageRecord {
  std::string name;
  StageState state = StageState::Off;
  std::string why;  ///< why it is on or off
  std::string started;
  std::string ended;
  StageTiming timing;
  std::vector<Finding> findings;
  std::vector<ChangeRecord> changes;
  std::vector<std::string> limits;
  std::vector<std::string> notes;
  std::vector<CommandRecord> commands;
  std::vector<TransitionRecord> transitions;
  std::vector<std::string> sessions;
  std::vector<ArtifactRecord> artifacts;
  std::string inputs_digest;

  bool operator==(const StageRecord&) const = default;
};
constexpr auto fields(std::type_identity<StageRecord>) {
  return field_list(
      field("name", &StageRecord::name, "the stage").required(),
      field("state", &StageRecord::state, "how far it got").required(),
      field("why", &StageRecord::why, "what switched it on or off"),
      field("started", &StageRecord::started, "UTC; empty: not started"),
      field("ended", &StageRecord::ended, "UTC; empty: not ended"),
      field("timing", &StageRecord::timing, "where its time went"),
      field("findings", &StageRecord::findings, "what there is to know about the result"),
      field("changes", &StageRecord::changes, "config values that differ from the baseline's"),
      field("limits", &StageRecord::limits, "what it did not look at"),
      field("notes", &StageRecord::notes, "translations and the like"),
      field("commands", &StageRecord::commands, "the children it ran, in order"),
      field("transitions", &StageRecord::transitions, "of a server: started, ready, and so on"),
      field("sessions", &StageRecord::sessions, "detached things to end: sessions of nsys"),
      field("artifacts", &StageRecord::artifacts, "its files, once complete"),
      field("inputs_digest", &StageRecord::inputs_digest,
            "of everything its result depends on; --resume runs it again if this changed"));
}

enum class RunState {
  Running,  ///< or killed, if `process` is not alive
  Ok,
  Failed,
  Interrupted,
};
constexpr auto names(std::type_identity<RunState>) {
  return std::array{named(RunState::Running, "running"), named(RunState::Ok, "ok"),
                    named(RunState::Failed, "failed"), named(RunState::Interrupted, "interrupted")};
}
std::string_view to_text(RunState state);

struct RunTiming {
  std::int64_t total_ns = 0;
  std::int64_t children_ns = 0;
  std::int64_t reading_ns = 0;
  std::int64_t digesting_ns = 0;
  std::int64_t reporting_ns = 0;
  std::int64_t between_children_ns = 0;

  bool operator==(const RunTiming&) const = default;
};
constexpr auto fields(std::type_identity<RunTiming>) {
  return field_list(
      field("total_ns", &RunTiming::total_ns, "from the first stage's start to the report"),
      field("children_ns", &RunTiming::children_ns, "while a child ran"),
      field("reading_ns", &RunTiming::reading_ns, "verifying and summarising captures"),
      field("digesting_ns", &RunTiming::digesting_ns, "checksums of files"),
      field("reporting_ns", &RunTiming::reporting_ns, "writing the reports"),
      field("between_children_ns", &RunTiming::between_children_ns,
            "from one child's end to the next one's start, minus the three above"));
}

/// The command line, so that it can be repeated.
struct CommandLineRecord {
  std::vector<std::string> argv;
  std::string cwd;
  std::string config_name;
  std::optional<std::string> config_path;
  std::optional<std::string> config_dir;
  std::vector<std::string> overrides;

  bool operator==(const CommandLineRecord&) const = default;
};
constexpr auto fields(std::type_identity<CommandLineRecord>) {
  return field_list(
      field("argv", &CommandLineRecord::argv, "profline and its arguments"),
      field("cwd", &CommandLineRecord::cwd, "where it was started; relative paths start here"),
      field("config_name", &CommandLineRecord::config_name, "--config-name"),
      field("config_path", &CommandLineRecord::config_path, "--config-path"),
      field("config_dir", &CommandLineRecord::config_dir, "--config-dir"),
      field("overrides", &CommandLineRecord::overrides, "in order"));
}

/// The programs that a run used, so that --resume uses the same ones.
struct ToolsRecord {
  std::optional<std::string> workload;
  std::optional<std::string> nsys;
  std::optional<std::string> ncu;

  bool operator==(const ToolsRecord&) const = default;
};
constexpr auto fields(std::type_identity<ToolsRecord>) {
  return field_list(
      field("workload", &ToolsRecord::workload, "profline-workload; null: not needed or not found"),
      field("nsys", &ToolsRecord::nsys, "null: not needed or not found"),
      field("ncu", &ToolsRecord::ncu, "null: not needed or not found"));
}

struct RunRecord {
  std::string id;
  std::string experiment;
  RunState state = RunState::Running;
  std::optional<std::int64_t> exit_code;
  std::string started;
  std::string ended;
  std::vector<std::string> resumed;
  std::string version;
  std::string commit;
  std::string device;
  std::string host;
  std::string boot_id;
  ProcessRecord process;
  CommandLineRecord command_line;
  ToolsRecord tools;
  std::optional<std::uint64_t> sampling_seed;
  std::vector<Finding> findings;
  RunTiming timing;
  std::vector<StageRecord> stages;
  std::vector<ArtifactRecord> artifacts;

  bool operator==(const RunRecord&) const = default;

  /// Null if the run has no such stage.
  const StageRecord* find_stage(std::string_view name) const;
};
constexpr auto fields(std::type_identity<RunRecord>) {
  return field_list(
      field("id", &RunRecord::id, "the folder's name").required(),
      field("experiment", &RunRecord::experiment, "free text of the config"),
      field("state", &RunRecord::state, "of the run as a whole").required(),
      field("exit_code", &RunRecord::exit_code, "exit code of profline; null: not ended"),
      field("started", &RunRecord::started, "UTC"),
      field("ended", &RunRecord::ended, "UTC; empty: not ended"),
      field("resumed", &RunRecord::resumed, "UTC of each --resume"),
      field("version", &RunRecord::version, "of profline"),
      field("commit", &RunRecord::commit, "profline was built from"),
      field("device", &RunRecord::device, "the model ran on: cpu or cuda:N"),
      field("host", &RunRecord::host, "the machine's name"),
      field("boot_id", &RunRecord::boot_id, "of the machine's boot: start ticks count from it"),
      field("process", &RunRecord::process, "profline itself"),
      field("command_line", &RunRecord::command_line, "how it was started"),
      field("tools", &RunRecord::tools, "programs that its stages ran; --resume uses the same"),
      field("sampling_seed", &RunRecord::sampling_seed,
            "of a random order whose seed the config does not set"),
      field("findings", &RunRecord::findings, "about the run as a whole"),
      field("timing", &RunRecord::timing, "where its time went"),
      field("stages", &RunRecord::stages, "all of them, in the order in which they run"),
      field("artifacts", &RunRecord::artifacts, "files of the run itself"));
}

/// The documents, with `schema` as the first key.
Node to_node(const RunRecord& run);
Node to_node(const StageRecord& stage);

/// The record in the text of run.json; `source` names it in messages. An Error of kind Parse if it
/// is not ours or was written by a newer version.
Result<RunRecord> parse_run_record(std::string_view text, const std::string& source);

/// The records as they are written to files: without the secrets in command lines, environments,
/// overrides and messages. Paths, digests and names stay: --resume needs them.
RunRecord redacted(RunRecord run, const Redactor& redactor);
StageRecord redacted(StageRecord stage, const Redactor& redactor);

/// The variable that passes profline-workload the values that are `<redacted>` in its config file:
/// JSON, under their keys. Its own name marks it as a secret.
inline constexpr const char* kConfigSecrets = "PROFLINE_CONFIG_SECRETS";

}  // namespace profline
