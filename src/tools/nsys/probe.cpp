#include "tools/nsys/probe.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "process/runner.h"
#include "tools/nsys/commands.h"

namespace profline::nsys {
namespace {

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

void keep_first(std::string& kept, std::string_view line) {
  if (kept.empty()) kept = line;
}

/// `"Failed to get number of the device CPUs."` without its quotes.
std::string_view unquoted(std::string_view text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

/// The importer prints its exception as a tree:
///
///     Items {
///       Type: ErrorText
///       Value: "Failed to get number of the device CPUs."
void read_importer_reason(std::string_view before, std::string_view line, Messages& messages) {
  constexpr std::string_view kValue = "Value: ";
  if (before != "Type: ErrorText" || !line.starts_with(kValue)) return;
  keep_first(messages.importer_reason, unquoted(line.substr(kValue.size())));
}

/// Lines that are meaningful by themselves.
void read_line(std::string_view line, Messages& messages) {
  if (line == "Capture range started in the application.") ++messages.ranges_started;
  if (line == "Capture range ended in the application.") ++messages.ranges_ended;
  if (line.starts_with("Importer error status:")) keep_first(messages.importer_problem, line);
  if (line.starts_with("Failed to create '")) keep_first(messages.create_problem, line);
  if (line.starts_with("Executable not found") || line.starts_with("No such file or directory:")) {
    keep_first(messages.program_problem, line);
  }
  // The last one is an exception of nsys itself, before it starts the program: the agent was not
  // ready in time.
  if (has(line, "Connection to Agent lost") || has(line, "Agent was terminated") ||
      has(line, "Local Endpoint is not available")) {
    messages.agent_lost = true;
  }
  if (line.starts_with("Session name") && has(line, "already in use")) {
    messages.session_in_use = true;
  }
  if (has(line, "No space left on device")) messages.disk_full = true;
  if (line.starts_with("ERROR:")) messages.errors.emplace_back(line);
}

constexpr std::chrono::seconds kCaptureLimit{60};
constexpr std::chrono::seconds kAskLimit{10};
constexpr int kAttempts = 3;  // on a busy machine nsys sometimes loses its agent
constexpr std::string_view kImporter = "QdstrmImporter";

/// The nsys in a folder of Nsight Compute; in a CUDA toolkit, that folder is next to `bin`.
std::filesystem::path bundled_nsys(const std::filesystem::path& ncu_folder) {
  std::vector<std::filesystem::path> places = {ncu_folder};
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(ncu_folder.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with("nsight-compute")) {
      places.push_back(entry.path());
    }
  }
  std::sort(places.begin() + 1, places.end(), std::greater<>());  // the newest first
  for (const std::filesystem::path& place : places) {
    auto nsys = place / "host/target-linux-x64/nsys";
    if (std::filesystem::exists(nsys, ignored)) return nsys;
  }
  return {};
}

/// The folder that ncu really runs from: `ncu` may be a script that starts one elsewhere, but the
/// profiled program has it as its parent. Empty if that does not work.
std::filesystem::path bundle_by_asking(ProcessRunner& runner, const std::filesystem::path& ncu) {
  const Command command{.argv = {ncu.string(), "--target-processes", "application-only", "/bin/sh",
                                 "-c", "readlink /proc/$PPID/exe"},
                        .timeout = kAskLimit,
                        .stop_briefly = true};
  const auto exit = runner.run(command);
  if (!exit) return {};
  for (const std::string_view line : split(exit->tail, '\n')) {
    std::filesystem::path folder = trim(line);
    std::error_code ignored;
    while (folder.is_absolute() && folder.has_relative_path()) {
      folder = folder.parent_path();
      auto nsys = folder / "host/target-linux-x64/nsys";
      if (std::filesystem::exists(nsys, ignored)) return nsys;
    }
  }
  return {};
}

/// The session is named after the folder and the attempt, so that simultaneous trials do not
/// collide, nor a trial with the remains of the previous one. Sampling is off because nsys 2022.4
/// can hang with it.
Command trial_command(const Installation& nsys, const std::filesystem::path& folder, int attempt) {
  const std::string session = folder.filename().string() + "-" + std::to_string(attempt);
  Command command{.argv = {nsys.program.string(), "profile", "--trace=none", "--sample=none",
                           "--cpuctxsw=none", "--force-overwrite=true", "--session-new=" + session,
                           "--output=" + (folder / "trial").string(), "/bin/true"}};
  command.env["TMPDIR"] = folder.string();  // its intermediates are megabytes
  command.timeout = kCaptureLimit;
  command.stop_briefly = true;
  return command;
}

bool has_file_ending_in(const std::filesystem::path& folder, std::string_view suffix) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == suffix) return true;
  }
  return false;
}

}  // namespace

bool importer_was_not_found(const Messages& messages) {
  return has(messages.importer_problem, "not found");
}

Messages read_messages(std::string_view log) {
  // Progress overwrites itself with carriage returns.
  std::string text(log);
  std::replace(text.begin(), text.end(), '\r', '\n');
  Messages messages;
  std::string_view before;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (messages.finished && raw.starts_with("    ") && line.front() == '/') {
      messages.generated.emplace_back(line);
      continue;
    }
    if (line == "Generated:") messages.finished = true;
    // The usage follows the reason.
    if (line.starts_with("usage: nsys")) keep_first(messages.usage_problem, before);
    read_line(line, messages);
    read_importer_reason(before, line, messages);
    before = line;
  }
  return messages;
}

Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program) {
  const std::string answer = PL_TRY(output_of(runner, {program.string(), "--version"}));
  const auto version = find_version(answer, "version");
  if (!version) {
    return Error(ErrorKind::Tool,
                 program.string() + " --version prints no version: " + std::string(trim(answer)));
  }
  return Installation{program, *version};
}

bool Installation::takes(std::string_view option) const {
  return options.empty() || std::find(options.begin(), options.end(), option) != options.end();
}

std::string Installation::kernel_summary_report() const {
  constexpr std::string_view kNow = "cuda_gpu_kern_sum";
  constexpr std::string_view kUntil2022 = "gpukernsum";
  const auto has = [this](std::string_view name) {
    return std::find(reports.begin(), reports.end(), name) != reports.end();
  };
  if (has(kNow)) return std::string(kNow);
  const bool was_asked = !reports.empty();
  const bool is_old =
      was_asked ? has(kUntil2022) : version != ToolVersion{} && version.major < 2023;
  return std::string(is_old ? kUntil2022 : kNow);
}

Result<std::filesystem::path> find_nsys(ProcessRunner& runner, std::string_view path_text) {
  auto on_path = profline::find_program("nsys", path_text, {});
  if (on_path) return on_path;
  const auto ncu = profline::find_program("ncu", path_text, {});
  if (ncu) {
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(*ncu, failure);
    std::filesystem::path bundled = failure ? real : bundled_nsys(real.parent_path());
    if (bundled.empty()) bundled = bundle_by_asking(runner, *ncu);
    if (!bundled.empty()) return bundled;
  }
  return on_path;
}

Result<std::filesystem::path> choose_nsys(ProcessRunner& runner, const std::string& name) {
  return name == "nsys" ? find_nsys(runner, own_path()) : profline::find_program(name);
}

Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program) {
  Installation nsys = PL_TRY(probe(runner, program));
  const std::string name = program.string();
  if (const auto help = output_of(runner, {name, "stats", "--help-reports"})) {
    nsys.reports = report_names(*help);
  }
  if (const auto help = output_of(runner, {name, "profile", "--help"})) {
    nsys.options = option_names(*help);
  }
  nsys.importer = find_importer(program);
  if (!nsys.importer.empty()) {
    if (const auto ldd = output_of(runner, {"ldd", nsys.importer.string()})) {
      nsys.importer_lacks = missing_libraries(*ldd);
    }
  }
  return nsys;
}

Result<Trial> try_capture(ProcessRunner& runner, const Installation& nsys,
                          const std::filesystem::path& folder) {
  Trial trial;
  do {
    ++trial.attempts;
    const Exit exit = PL_TRY(runner.run(trial_command(nsys, folder, trial.attempts)));
    trial.output = std::string(trim(exit.tail));
    trial.report_written = has_file_ending_in(folder, ".nsys-rep");
    trial.left_unimported = !trial.report_written && has_file_ending_in(folder, ".qdstrm");
  } while (!trial.report_written && !trial.left_unimported && trial.attempts < kAttempts);
  if (trial.report_written) return trial;
  const Messages messages = read_messages(trial.output);
  if (!importer_was_not_found(messages)) {
    trial.importer_said =
        messages.importer_reason.empty() ? messages.importer_problem : messages.importer_reason;
  }
  trial.importer = find_importer(nsys.program);
  if (!trial.importer.empty()) {
    const Exit ldd = PL_TRY(runner.run({.argv = {"ldd", trial.importer.string()}}));
    trial.importer_lacks = missing_libraries(ldd.tail);
  }
  return trial;
}

std::string trial_problem(const Trial& trial) {
  if (trial.report_written) return {};
  if (!trial.importer_lacks.empty()) {
    return "captures, but its importer lacks " + join(trial.importer_lacks, ", ") +
           ", so no report is written";
  }
  if (!trial.importer_said.empty()) {
    return "captures, but its importer failed, so no report is written: " + trial.importer_said;
  }
  if (trial.left_unimported && trial.importer.empty()) {
    return "captures, but does not find its importer, so no report is written";
  }
  return "a trial capture wrote no report; it said: " + trial.output;
}

Result<std::string> try_reading(ProcessRunner& runner, const Installation& nsys,
                                const std::filesystem::path& folder) {
  const std::filesystem::path sqlite = folder / "trial.sqlite";
  const auto exported = export_sqlite(runner, nsys.program, folder / "trial.nsys-rep", sqlite);
  if (!exported) return exported.error().message();
  Command command = kernel_summary_command(nsys, sqlite, {});
  command.timeout = kCaptureLimit;
  command.stop_briefly = true;
  const Exit exit = PL_TRY(runner.run(command));
  // It exits with 0 whatever happens; an empty capture is `SKIPPED`.
  for (const std::string_view line : lines(exit.tail)) {
    const bool is_problem = line.find("internal error") != std::string_view::npos ||
                            line.find("No module named") != std::string_view::npos ||
                            line.starts_with("ERROR");
    if (is_problem) return std::string(trim(line));
  }
  return std::string();
}

std::filesystem::path find_importer(const std::filesystem::path& program) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(program, failure);
  if (failure) return {};
  const std::filesystem::path top = real.parent_path().parent_path();
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(top, failure)) {
    const std::string name = entry.path().filename().string();
    // host-linux-x64 in packages of nsys, linux-desktop-glibc_2_11_3-x64 in the bundled copy.
    const bool host = name.starts_with("host-linux") || name.starts_with("linux-desktop");
    if (host && std::filesystem::exists(entry.path() / kImporter, failure)) {
      found.push_back(entry.path() / kImporter);
    }
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? std::filesystem::path() : found.front();
}

std::string importer_fix() {
  std::error_code failure;
  if (!std::filesystem::exists("/sys/devices/system/cpu", failure)) {
    return "mount /sys (mount -t sysfs sysfs /sys): the importer reads the CPUs from it";
  }
  return "try another release of Nsight Systems";
}

std::vector<std::string> missing_libraries(std::string_view ldd_output) {
  //	libssh.so.4 => not found
  std::vector<std::string> names;
  for (const std::string_view line : lines(ldd_output)) {
    const std::size_t arrow = line.find("=> not found");
    if (arrow == std::string_view::npos) continue;
    std::string name(trim(line.substr(0, arrow)));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> report_names(std::string_view help) {
  //   cuda_gpu_kern_sum[:nvtx-name][:base|:mangled] -- CUDA GPU Kernel Summary
  std::vector<std::string> names;
  for (const std::string_view line : lines(help)) {
    const std::size_t dashes = line.find(" -- ");
    if (dashes == std::string_view::npos || !line.starts_with("  ")) continue;
    const std::string_view name = trim(line.substr(0, dashes));
    names.emplace_back(name.substr(0, name.find('[')));
  }
  return names;
}

std::vector<std::string> option_names(std::string_view help) {
  // \t-c, --capture-range=
  std::vector<std::string> names;
  for (std::string_view line : lines(help)) {
    line = trim(line);
    if (line.size() > 4 && line[0] == '-' && line[1] != '-' && line[2] == ',') {
      line = trim(line.substr(3));
    }
    if (!line.starts_with("--")) continue;
    const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-");
    names.emplace_back(line.substr(0, end));
  }
  return names;
}

}  // namespace profline::nsys
