#include "tools/slurm/slurm.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "schema/docs.h"

namespace profline::slurm {
namespace {

namespace fs = std::filesystem;

/// For sbatch's own lines, where a backslash counts in quotes too.
std::string in_directive(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

/// For the name of an output file, in which Slurm replaces `%j`.
std::string in_pattern(std::string_view path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

/// For a POSIX shell.
std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

/// The `#SBATCH` lines of a script.
class Directives {
 public:
  void flag(const std::string& name) { text_ += "#SBATCH --" + name + "\n"; }

  void add(const std::string& name, const std::string& value) {
    if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
      problems_.emplace_back(ErrorKind::Config, "hydra.launcher: the value of --" + name +
                                                    " for sbatch contains a line break");
    }
    text_ += "#SBATCH --" + name + "=" + in_directive(value) + "\n";
  }
  void add(const std::string& name, const std::optional<Text>& value) {
    if (value && !value->empty()) add(name, std::string(*value));
  }
  void add(const std::string& name, const std::optional<std::int64_t>& value) {
    if (value) add(name, std::to_string(*value));
  }

  void refuse(Error problem) { problems_.push_back(std::move(problem)); }

  Result<std::string> text() const {
    if (!problems_.empty()) return Error::all(problems_);
    return text_;
  }

 private:
  std::string text_;
  std::vector<Error> problems_;
};

/// The name of a long option; anything else would be read as more words, or lines, of the script.
bool is_option_name(std::string_view name) {
  const auto may_be_in_it = [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), may_be_in_it);
}

void add_parameter(Directives& directives, std::string name, const Node& value) {
  if (!is_option_name(name)) {
    directives.refuse(Error(ErrorKind::Config,
                            "hydra.launcher.additional_parameters: '" + printable(name) +
                                "' is not the name of an option of sbatch: only letters, digits, "
                                "'_' and '-' are allowed",
                            value.position()));
    return;
  }
  std::replace(name.begin(), name.end(), '_', '-');
  if (value.is_null() || (value.is_bool() && !value.as_bool())) return;
  if (value.is_bool()) {
    directives.flag(name);
  } else {
    directives.add(name, value.is_string() ? value.as_string() : schema::value_text(value));
  }
}

std::string memory_text(double gigabytes) {
  constexpr double kMegabytes = 1024;
  return fmt::format("{:.0f}M", gigabytes * kMegabytes);
}

Result<std::string> directives_of(const Options& options, const ArrayJob& job) {
  Directives lines;
  lines.add("job-name", options.name);
  lines.add("array", fmt::format("{}%{}", array_text(job.indexes), options.array_parallelism));
  lines.add("output", in_pattern(job.folder.string()) + "/%A_%a_log.out");
  if (!options.stderr_to_stdout)
    lines.add("error", in_pattern(job.folder.string()) + "/%A_%a_log.err");
  lines.add("open-mode", std::string("append"));
  lines.flag("requeue");
  lines.add("time", options.timeout_min);
  // Without timeout_min too: a partition has a limit of its own, and preemption gives notice by the
  // same signal.
  if (options.signal_delay_s > 0) {
    lines.add("signal", fmt::format("B:USR2@{}", options.signal_delay_s));
  }
  lines.add("nodes", options.nodes);
  lines.add("ntasks-per-node", options.tasks_per_node);
  lines.add("cpus-per-task", options.cpus_per_task);
  lines.add("gpus-per-node", options.gpus_per_node);
  if (options.mem_gb) lines.add("mem", memory_text(*options.mem_gb));
  lines.add("partition", options.partition);
  lines.add("qos", options.qos);
  lines.add("account", options.account);
  lines.add("comment", options.comment);
  lines.add("constraint", options.constraint);
  lines.add("exclude", options.exclude);
  lines.add("gres", options.gres);
  lines.add("cpus-per-gpu", options.cpus_per_gpu);
  lines.add("gpus-per-task", options.gpus_per_task);
  lines.add("mem-per-gpu", options.mem_per_gpu);
  lines.add("mem-per-cpu", options.mem_per_cpu);
  for (const auto& [name, value] : options.additional_parameters) {
    add_parameter(lines, name, value);
  }
  return lines.text();
}

/// `CANCELLED by 1000` -> `CANCELLED`; `COMPLETED+` -> `COMPLETED`.
std::string state_word(std::string_view text) {
  const std::size_t end = text.find_first_of(" +");
  return std::string(text.substr(0, end));
}

constexpr const char* kSeeQueue =
    "; Slurm may have taken the jobs all the same: see squeue. 'profline sweep status' finds them "
    "as "
    "soon as one of them has started";

/// Whether sbatch lost its connection to the controller after it had sent the job, perhaps.
bool lost_the_answer(std::string_view said) {
  constexpr std::string_view kWords[] = {"timed out",       "Zero Bytes",       "send failure",
                                         "receive failure", "shutdown failure", "Connection reset",
                                         "Broken pipe"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view words) {
    return said.find(words) != std::string_view::npos;
  });
}

/// Why sbatch did not submit a script; of an array of too many tasks, with the limit.
Error submission_error(ProcessRunner& runner, const Command& command, const Exit& exit) {
  const std::string said(trim(exit.tail));
  const Error error(ErrorKind::Tool, "'" + display({.argv = command.argv}) + "' " +
                                         exit.describe() + (said.empty() ? "" : ": " + said));
  const bool refused = exit.why == Exit::Why::Own && exit.code && !lost_the_answer(said);
  if (!refused) {
    return Error(error.kind(), error.message() + kSeeQueue).with_reason(kMayHaveJobs);
  }
  if (said.find("Invalid job array specification") == std::string::npos) return error;
  const auto config = output_of(runner, {"scontrol", "show", "config"});
  if (!config) return error;
  constexpr std::string_view kKey = "MaxArraySize";
  for (const std::string_view line : lines(*config)) {
    if (!line.starts_with(kKey)) continue;
    const auto size = whole_number<std::uint64_t>(trim(line.substr(line.find('=') + 1)));
    if (!size || *size == 0) break;
    return Error(
        ErrorKind::Tool,
        fmt::format("this cluster takes array jobs of at most {} tasks (MaxArraySize), and "
                    "the sweep has more jobs: make several sweeps of it",
                    *size - 1));
  }
  return error;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string array_text(std::span<const std::size_t> indexes) {
  std::string text;
  for (std::size_t first = 0; first < indexes.size();) {
    std::size_t last = first;
    while (last + 1 < indexes.size() && indexes[last + 1] == indexes[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(indexes[first]);
    if (last > first) text += '-' + std::to_string(indexes[last]);
    first = last + 1;
  }
  return text;
}

std::vector<std::size_t> parse_array_text(std::string_view text) {
  constexpr std::size_t kMost = 4'000'001;  // the largest MaxArraySize
  std::vector<std::size_t> indexes;
  text = text.substr(0, text.find('%'));
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = whole_number<std::size_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : whole_number<std::size_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMost) return {};
    if (*last - *first >= kMost - indexes.size()) return {};
    for (std::size_t i = *first; i <= *last; ++i) indexes.push_back(i);
  }
  return indexes;
}

Result<std::string> batch_script(const Options& options, const ArrayJob& job) {
  // Until profline handles it, the signal ahead of the time limit must not end the job.
  std::string text = "#!/bin/bash\n" + PL_TRY(directives_of(options, job)) + "\ntrap '' USR2\n";
  for (const std::string& line : options.setup.value_or(std::vector<std::string>())) {
    text += line + "\n";
  }
  text += "exec";
  for (const std::string& word : job.command) text += ' ' + in_quotes(word);
  return text + " \"$SLURM_ARRAY_TASK_ID\"\n";
}

fs::path fixed_folder(const fs::path& submitit_folder) {
  fs::path fixed;
  for (const fs::path& part : submitit_folder) {
    if (part.native().find('%') != std::string::npos) break;
    fixed /= part;
  }
  return fixed;
}

std::vector<std::string> overriding_variables(std::string_view script) {
  std::vector<std::string> names = {"SBATCH_WAIT", "SBATCH_NO_REQUEUE"};
  for (const std::string_view line : lines(script)) {
    constexpr std::string_view kStart = "#SBATCH --";
    if (!line.starts_with(kStart)) continue;
    std::string name(line.substr(kStart.size(), line.find('=') - kStart.size()));
    if (name == "array") name = "array_inx";
    if (name == "time") name = "timelimit";
    if (name.starts_with("mem")) {  // of these, only one may be set
      names.insert(names.end(),
                   {"SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU", "SBATCH_MEM_PER_NODE"});
      continue;
    }
    for (char& c : name) {
      if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
      if (c == '-') c = '_';
    }
    names.push_back("SBATCH_" + name);
  }
  return names;
}

Result<std::string> submit(ProcessRunner& runner, const fs::path& script, std::string_view text) {
  Command command{.argv = {"sbatch", "--parsable", script.string()}};
  command.unset_env = overriding_variables(text);
  command.timeout = std::chrono::minutes(2);
  command.stop_briefly = true;
  const Exit exit = PL_TRY(runner.run(command));
  if (!exit.succeeded()) return submission_error(runner, command, exit);
  // `123`, or `123;cluster`, perhaps among warnings
  for (const std::string_view line : lines(exit.tail)) {
    const std::string id(trim(line.substr(0, line.find(';'))));
    if (whole_number<std::uint64_t>(id)) return id;
  }
  return Error(ErrorKind::Tool, "sbatch printed '" + std::string(trim(exit.tail)) +
                                    "' instead of a job id" + kSeeQueue)
      .with_reason(kMayHaveJobs);
}

// 12|3|RUNNING|None
Tasks parse_queue(std::string_view text) {
  Tasks tasks;
  for (const std::string_view line : lines(text)) {
    const auto cells = split(line, '|');
    if (cells.size() < 4) continue;
    const std::string reason(trim(cells[3]));
    for (const std::size_t index : parse_array_text(cells[1])) {
      tasks[index] = {state_word(cells[2]), reason == "None" ? "" : reason};
    }
  }
  return tasks;
}

// 12_3|FAILED|1:0, and 12_[4-7]|CANCELLED by 0|0:0 for tasks that never started
Tasks parse_accounting(std::string_view text) {
  Tasks tasks;
  for (const std::string_view line : lines(text)) {
    const auto cells = split(line, '|');
    const std::size_t at = cells.front().find('_');
    if (cells.size() < 3 || at == std::string_view::npos) continue;
    std::string_view which = cells.front().substr(at + 1);
    if (which.starts_with('[') && which.ends_with(']')) which = which.substr(1, which.size() - 2);
    for (const std::size_t index : parse_array_text(which)) {
      tasks[index] = {state_word(cells[1]), ""};
    }
  }
  return tasks;
}

Result<Tasks> queue(ProcessRunner& runner, const std::string& array_job) {
  const auto answer = output_of(runner, {"squeue", "--noheader", "--array", "--states=all",
                                         "--jobs=" + array_job, "--format=%F|%K|%T|%r"});
  if (answer) return parse_queue(*answer);
  // A controller forgets ended jobs after a few minutes (MinJobAge).
  if (answer.error().message().find("Invalid job id") != std::string::npos) return Tasks();
  return answer.error();
}

std::optional<Tasks> accounting(ProcessRunner& runner, const std::string& array_job) {
  const auto answer = output_of(runner, {"sacct", "--noheader", "--parsable2", "--allocations",
                                         "--jobs=" + array_job, "--format=JobID,State,ExitCode"});
  if (!answer) return std::nullopt;
  return parse_accounting(*answer);
}

// 2026-11-18T19:53:41, or N/A
bool is_preempted(ProcessRunner& runner, const std::string& task) {
  const auto answer = output_of(runner, {"squeue", "--noheader", "--states=all", "--jobs=" + task,
                                         "--Format=PreemptTime:30"});
  if (!answer) return false;
  const std::string_view time = trim(*answer);
  return !time.empty() && time.front() >= '0' && time.front() <= '9';
}

Result<void> cancel(ProcessRunner& runner, const std::string& array_job,
                    std::span<const std::size_t> indexes) {
  const std::string which = array_job + "_[" + array_text(indexes) + "]";
  PL_TRY(output_of(runner, {"scancel", which}));
  return {};
}

Result<void> requeue(ProcessRunner& runner, const std::string& task) {
  PL_TRY(output_of(runner, {"scontrol", "requeue", task}));
  return {};
}

Result<void> release(ProcessRunner& runner, const std::string& task) {
  PL_TRY(output_of(runner, {"scontrol", "release", task}));
  return {};
}

Surroundings surroundings() {
  Surroundings here;
  const std::string array = variable("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) here.task = array + "_" + variable("SLURM_ARRAY_TASK_ID");
  here.node = variable("SLURMD_NODENAME");
  here.restarts = whole_number<std::uint32_t>(variable("SLURM_RESTART_COUNT")).value_or(0);
  return here;
}

}  // namespace profline::slurm

namespace profline::schema {

void Codec<slurm::Text>::read(const Node& node, slurm::Text& value, Reader& /*reader*/) {
  value.assign(node.is_string() ? node.as_string() : value_text(node));
}

}  // namespace profline::schema
