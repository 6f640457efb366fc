#include "tools/nsys/interactive.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "formats/sqlite.h"
#include "schema/read.h"

namespace profline::nsys {
namespace fs = std::filesystem;

Command launch_command(const Installation& nsys, const settings::Nsys& options,
                       const std::string& session, const Command& program) {
  Command command = program;
  command.argv = {nsys.program.string(), "launch", "--session-new=" + session};
  const auto add = [&](std::string option) { command.argv.push_back(std::move(option)); };
  if (options.trace) add("--trace=" + join(options.trace->items, ","));
  if (nsys.takes("--trace-fork-before-exec")) add("--trace-fork-before-exec=true");
  const std::string graphs =
      options.cuda_graph_trace ? schema::write(*options.cuda_graph_trace).as_string() : "node";
  if (nsys.takes("--cuda-graph-trace")) add("--cuda-graph-trace=" + graphs);
  if (options.nvtx_domain_include) {
    add("--nvtx-domain-include=" + join(options.nvtx_domain_include->items, ","));
  }
  if (options.nvtx_domain_exclude) {
    add("--nvtx-domain-exclude=" + join(options.nvtx_domain_exclude->items, ","));
  }
  add("--wait=primary");
  command.argv.insert(command.argv.end(), program.argv.begin(), program.argv.end());
  return command;
}

Command profile_server_command(const Installation& nsys, settings::Nsys options,
                               const Capture& capture, const Command& program) {
  if (!options.cuda_graph_trace && nsys.takes("--cuda-graph-trace")) {
    options.cuda_graph_trace = settings::GraphTrace::Node;
  }
  Command command = profile_command(nsys, options, capture, program);
  std::vector<std::string> more;
  for (const char* option : {"--trace-fork-before-exec=true", "--wait=primary", "--kill=none"}) {
    if (nsys.takes(std::string_view(option).substr(0, std::string_view(option).find('=')))) {
      more.emplace_back(option);
    }
  }
  const auto before_program = command.argv.end() - static_cast<std::ptrdiff_t>(program.argv.size());
  command.argv.insert(before_program, more.begin(), more.end());
  return command;
}

Command start_command(const Installation& nsys, const settings::Nsys& options,
                      const std::string& session, const fs::path& output) {
  constexpr std::chrono::seconds kLimit{30};
  Command command;
  command.argv = {nsys.program.string(), "start", "--session=" + session,
                  "--output=" + output.string(), "--force-overwrite=true"};
  if (options.sample) {
    command.argv.push_back("--sample=" + schema::write(*options.sample).as_string());
  }
  if (options.sample == settings::CpuSampling::None) command.argv.emplace_back("--cpuctxsw=none");
  for (std::string& option : metric_options(nsys, options)) {
    command.argv.push_back(std::move(option));
  }
  command.timeout = kLimit;
  return command;
}

//       ID        TIME                       STATE LAUNCH NAME
//  1030995       00:02                    Launched      1 profline-run
std::vector<SessionState> read_sessions(std::string_view list) {
  constexpr std::size_t kColumns = 5;
  std::vector<SessionState> sessions;
  for (const std::string_view line : lines(list)) {
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() < kColumns || words[0] == "ID") continue;
    // A state may have several words; a name of ours has none of them.
    std::string state(words[2]);
    for (std::size_t i = 3; i + 2 < words.size(); ++i) state += " " + std::string(words[i]);
    sessions.push_back({std::string(words.back()), std::move(state)});
  }
  return sessions;
}

Result<std::optional<std::string>> session_state(ProcessRunner& runner, const fs::path& program,
                                                 const std::string& session) {
  const std::string list = PL_TRY(output_of(runner, {program.string(), "sessions", "list"}));
  for (const SessionState& each : read_sessions(list)) {
    if (each.name == session) return std::optional(each.state);
  }
  return std::optional<std::string>();
}

bool is_recording(std::string_view state) {
  return state.find("Collection") != std::string_view::npos &&
         state.find("Delayed") == std::string_view::npos;
}

Result<std::optional<CaptureEdges>> capture_edges(const fs::path& file) {
  sqlite::Database database = PL_TRY(sqlite::Database::open_read_only(file));
  for (const char* table : {"TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS"}) {
    if (!PL_TRY(database.has_table(table))) return std::optional<CaptureEdges>();
  }
  const auto begin = PL_TRY(database.query_value<std::optional<std::int64_t>>(
      "SELECT max(utcEpochNs) FROM TARGET_INFO_SESSION_START_TIME"));
  const auto length = PL_TRY(database.query_value<std::optional<std::int64_t>>(
      "SELECT max(duration) FROM ANALYSIS_DETAILS"));
  if (!begin || !length || *length <= 0) return std::optional<CaptureEdges>();
  return std::optional(CaptureEdges{*begin, *begin + *length});
}

Result<std::vector<std::int64_t>> captured_processes(const fs::path& file) {
  sqlite::Database database = PL_TRY(sqlite::Database::open_read_only(file));
  std::vector<std::int64_t> pids;
  // Output of each process is stored under it; a process that did nothing else is there, too.
  for (const auto& [table, column] : {std::pair("ProcessStreams", "globalPid"),
                                      {"NVTX_EVENTS", "globalTid"},
                                      {"OSRT_API", "globalTid"},
                                      {"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"},
                                      {"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"}}) {
    if (!PL_TRY(database.has_table(table))) continue;
    sqlite::Statement rows = PL_TRY(database.prepare(std::string("SELECT DISTINCT (") + column +
                                                     " / 16777216) % 16777216 FROM " + table +
                                                     " WHERE " + column + " IS NOT NULL"));
    while (PL_TRY(rows.step())) pids.push_back(PL_TRY(rows.get<std::int64_t>(0)));
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

}  // namespace profline::nsys
