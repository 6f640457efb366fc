#include "settings/pipeline.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <regex.h>

#include "base/command_words.h"
#include "base/strings.h"

namespace profline::settings {

Checks validate(const TorchProfiler& profiler) {
  Checks checks;
  if (profiler.enable != Enable::No && profiler.activities.empty()) {
    checks.fail(profiler.activities, "must name cpu, cuda or both");
  }
  if (profiler.group_by_input_shape && !profiler.record_shapes) {
    checks.fail(profiler.group_by_input_shape, "needs record_shapes=true");
  }
  return checks;
}

std::optional<std::vector<std::string>> Workload::user_command() const {
  if (command) return command;
  if (!module || trim(*module).empty()) return std::nullopt;
  return std::vector<std::string>{"python3", "-m", std::string(trim(*module))};
}

namespace {

bool is_interpreter(std::string_view name) {
  constexpr std::array<std::string_view, 6> kOthers = {"bash", "sh",   "node",
                                                       "perl", "ruby", "julia"};
  return name.starts_with("python") ||
         std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

}  // namespace

std::string program_name(std::span<const std::string> words) {
  const std::span<const std::string> command = program_words(words);
  if (command.empty()) return "";
  const std::string name = std::filesystem::path(command.front()).filename().string();
  if (name.empty()) return command.front();
  if (name == "torchrun") {
    // The options may take values of their own.
    const auto script = std::find_if(command.begin(), command.end(),
                                     [](const std::string& word) { return word.ends_with(".py"); });
    return script == command.end() ? name : std::filesystem::path(*script).filename().string();
  }
  if (!is_interpreter(name)) return name;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-m" && i + 1 < command.size()) return command[i + 1];
    if (word == "-c") return name + " -c";
    const bool takes_value = word == "-X" || word == "-W";
    if (takes_value) ++i;
    if (!word.starts_with("-")) return std::filesystem::path(word).filename().string();
  }
  return name;
}

Checks validate(const Workload& workload) {
  Checks checks;
  if (workload.kind == WorkloadKind::Program && !workload.user_command()) {
    checks.fail(workload.kind,
                "program needs a command line: put it after '--', as in 'profline run -- python3 "
                "infer.py', or "
                "set command or module");
  }
  if (workload.kind == WorkloadKind::Server && !workload.server.url) {
    checks.fail(workload.server.url,
                "must say where the server answers, as in "
                "pipeline.workload.server.url=http://127.0.0.1:8000");
  }
  if (workload.request_range.empty()) {
    checks.fail(workload.request_range, "must name a range");
  }
  if (workload.command && (workload.command->empty() || workload.command->front().empty())) {
    checks.fail(workload.command, "must begin with a program, or be null");
  }
  if (workload.command && workload.module && !trim(*workload.module).empty()) {
    checks.fail(workload.module, "must be null when command is given: one program is profiled");
  }
  const Ranks& ranks = workload.ranks;
  if (ranks.is_on() && workload.kind == WorkloadKind::Server) {
    checks.fail(ranks.launcher, "must be null for a server, which starts its own workers");
  } else if (ranks.is_on() && !workload.command) {
    checks.fail(ranks.launcher, "needs a program of your own: set command, or put it after '--'");
  }
  return checks;
}

Checks validate(const Arrival& arrival) {
  Checks checks;
  const int given = static_cast<int>(arrival.concurrency.has_value()) +
                    static_cast<int>(arrival.rate.has_value()) +
                    static_cast<int>(arrival.trace.has_value());
  if (given > 1) checks.fail("only one of concurrency, rate and trace may be set");
  return checks;
}

Checks validate(const LoadPrompts& prompts) {
  Checks checks;
  if (prompts.file && prompts.input_tokens) {
    checks.fail(prompts.input_tokens,
                "must be null when file is set: its prompts are sent as they are");
  }
  return checks;
}

Checks validate(const LoadMeasure& measure) {
  Checks checks;
  if (measure.requests && measure.seconds) {
    checks.fail(measure.seconds, "must be null when requests is set");
  }
  return checks;
}

Checks validate(const Load& load) {
  Checks checks;
  if (!load.endpoint.starts_with("/") || !load.endpoint.ends_with("completions")) {
    checks.fail(load.endpoint, "must be a path such as /v1/completions or /v1/chat/completions");
  }
  if (!load.extra_body.is_map()) checks.fail(load.extra_body, "must be a map");
  if (load.search && !load.slo.is_set()) {
    checks.fail(load.search, "needs slo.ttft_ms or slo.tpot_ms");
  }
  if (load.search && (load.arrival.concurrency || load.arrival.trace)) {
    checks.fail(load.search, "chooses rates itself: concurrency and trace must be null");
  }
  for (const auto& [name, value] : load.headers) {
    const bool breaks = (name + value).find_first_of("\r\n") != std::string::npos;
    if (name.empty() || breaks) checks.fail(load.headers, "must have names and single-line values");
  }
  return checks;
}

Checks validate(const ServerReady& ready) {
  Checks checks;
  const int given = static_cast<int>(ready.http.has_value()) +
                    static_cast<int>(ready.tcp.has_value()) +
                    static_cast<int>(ready.log.has_value());
  if (given > 1) checks.fail("only one of http, tcp and log may be set");
  if (ready.http && !ready.http->starts_with("/")) checks.fail(ready.http, "must begin with /");
  const std::size_t colon = ready.tcp ? ready.tcp->rfind(':') : 0;
  if (ready.tcp && (colon == 0 || colon == std::string::npos)) {
    checks.fail(ready.tcp, "must be HOST:PORT");
  }
  regex_t compiled{};
  if (ready.log && ::regcomp(&compiled, ready.log->c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    checks.fail(ready.log, "is not a regular expression");
  } else if (ready.log) {
    ::regfree(&compiled);
  }
  return checks;
}

Checks validate(const ServerHttp& http) {
  Checks checks;
  const auto is_request = [](std::string_view text) {
    const std::size_t blank = text.find(' ');
    return blank != std::string_view::npos && blank > 0 && text.substr(blank + 1).starts_with("/");
  };
  if (!is_request(http.start)) checks.fail(http.start, "must be like 'POST /start_profile'");
  if (!is_request(http.stop)) checks.fail(http.stop, "must be like 'POST /stop_profile'");
  return checks;
}

int ServerStop::number() const {
  const std::string_view name = signal;
  constexpr std::string_view kPrefix = "SIG";
  if (!name.starts_with(kPrefix)) return 0;
  for (int number = 1; number < NSIG; ++number) {
    const char* short_name = ::sigabbrev_np(number);
    if (short_name != nullptr && name.substr(kPrefix.size()) == short_name) return number;
  }
  return 0;
}

Checks validate(const ServerStop& stop) {
  Checks checks;
  if (stop.number() == 0) checks.fail(stop.signal, "must be the name of a signal: SIGTERM");
  return checks;
}

Checks validate(const Server& server) {
  Checks checks;
  for (const std::string& flag : server.flags) {
    if (trim(flag).empty()) checks.fail(server.flags, "must not be blank");
  }
  const std::string url = server.url.value_or("http://");
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    checks.fail(server.url, "must begin with http:// or https://");
  }
  return checks;
}

}  // namespace profline::settings
