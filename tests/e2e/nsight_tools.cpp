#include "nsight_tools.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "formats/json.h"
#include "process/process_table.h"
#include "process/runner.h"
#include "schema/read.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/nsys/probe.h"

namespace profline::e2e {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::optional<StageRecord> status_in(const std::filesystem::path& folder) {
  const auto text = read_file(folder / "status.json");
  if (!text) return std::nullopt;
  auto node = parse_json(*text, "status.json");
  if (!node) return std::nullopt;
  NodeMap body;
  for (const NodeMap::Entry& entry : node->as_map()) {
    if (entry.key != Node::string("schema")) body.set(entry.key, entry.value);
  }
  auto record = schema::read<StageRecord>(Node::map(std::move(body)));
  if (!record) {
    std::cerr << record.error().to_string() << "\n";
    return std::nullopt;
  }
  return std::move(*record);
}

/// Where a trial's outcome is kept for the other tests of this boot and mount namespace, as nsys
/// may work in one container and not in another: each test is a process of its own.
std::filesystem::path trial_file(const NsightTools& tools) {
  std::error_code failure;
  const std::string boot = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  const auto mounts = std::filesystem::read_symlink("/proc/self/ns/mnt", failure);
  return tools.folder / ("trial-" + sha256_hex(boot + mounts.string()).substr(0, 12) + ".txt");
}

/// What a run of the built-in model on the CPU needs; it has no stage that is not asked for.
std::vector<std::string> model_run() {
  return {"run",
          "--config-name",
          "demo",
          "device=cpu",
          "pipeline.workload.threads=1",
          "dataset.pages=1",
          "dataset.page_sizes=[96x64]",
          "infer.max_new_tokens=4",
          "pipeline.nsys.enable=false",
          "pipeline.static_analysis.enable=false",
          "pipeline.torch_profiler.enable=false",
          "pipeline.baseline.enable=false"};
}

/// Why this nsys cannot capture here; empty if it can.
std::string nsys_problem(const NsightTools& tools) {
  const std::filesystem::path kept = trial_file(tools);
  if (auto known = read_file(kept)) return *known;
  Interrupt interrupt;
  PosixRunner runner(interrupt);
  const auto nsys = nsys::probe(runner, tools.folder / "bin/nsys");
  if (!nsys) return nsys.error().to_string();
  const testing::TempDir folder;
  const auto trial = nsys::try_capture(runner, *nsys, folder.path());
  const std::string problem = trial ? nsys::trial_problem(*trial) : trial.error().to_string();
  if (const auto written = write_file_atomic(kept, problem); !written) {
    std::cerr << written.error().to_string() << "\n";
  }
  return problem;
}

}  // namespace

Command NsightTools::environment(bool with_driver) const {
  Command command;
  command.env["PATH"] = (folder / "bin").string() + ":" + own_path();
  if (with_driver) command.env["LD_LIBRARY_PATH"] = (folder / "driver").string();
  return command;
}

std::optional<NsightTools> nsight_tools(std::string& why_not) {
  if (variable("NSIGHT", "1") == "0") {
    why_not = "NSIGHT=0: without Nsight tools";
    return std::nullopt;
  }
  const std::string suite = variable("NSIGHT_SUITE", "trixie");
  NsightTools tools{testing::source_dir() / "build/tools" / ("nsight-" + suite)};
  if (!std::filesystem::exists(tools.folder / "bin/ncu")) {
    why_not = "no " + tools.folder.string() + " (scripts/fetch_nsight pair " + suite + " gets it)";
    return std::nullopt;
  }
  return tools;
}

std::optional<NsightTools> working_nsys(std::string& why_not) {
  auto tools = nsight_tools(why_not);
  if (!tools) return tools;
  const std::string problem = nsys_problem(*tools);
  if (problem.empty()) return tools;
  why_not = "nsys does not work here: " + problem;
  return std::nullopt;
}

NsysRanges ranges_of(const NsightRun& run) {
  const auto text = read_file(run.folder / "nsys/ranges.json");
  EXPECT_TRUE(text) << run.outcome.err;
  if (!text) return {};
  auto ranges = from_document<NsysRanges>(*text, "ranges.json");
  EXPECT_TRUE(ranges) << ranges.error().to_string();
  return ranges ? std::move(*ranges) : NsysRanges();
}

const Finding* NsightRun::finding(std::string_view code) const {
  if (!stage) return nullptr;
  const auto found = std::find_if(stage->findings.begin(), stage->findings.end(),
                                  [&](const Finding& finding) { return finding.code == code; });
  return found == stage->findings.end() ? nullptr : &*found;
}

bool NsightRun::has_finding(std::string_view code) const {
  return finding(code) != nullptr;
}

NsightRun NsightRunner::attempt(const std::vector<std::string>& overrides, bool with_driver) {
  NsightRun run;
  run.folder = root_ / ("run-" + std::to_string(++runs_));
  std::vector<std::string> arguments =
      program_.empty() ? model_run() : std::vector<std::string>{"run", "device=cpu"};
  arguments.insert(arguments.end(), overrides.begin(), overrides.end());
  arguments.push_back("hydra.run.dir=" + run.folder.string());
  if (!program_.empty()) arguments.emplace_back("--");
  arguments.insert(arguments.end(), program_.begin(), program_.end());
  Command base = tools_.environment(with_driver);
  base.cwd = root_.path();
  for (const auto& [name, value] : env_) base.env[name] = value;
  run.outcome = run_profline(std::move(arguments), std::move(base));
  run.stage = status_in(run.folder / stage_);
  return run;
}

NsightRun NsightRunner::run(const std::vector<std::string>& overrides,
                            const std::function<bool(const NsightRun&)>& is_good,
                            bool with_driver) {
  constexpr int kInterrupted = 130;  // stopped by the time limit: the tool hung
  NsightRun run = attempt(overrides, with_driver);
  if (run.outcome.code != kInterrupted && is_good(run)) return run;
  std::cout << "once more, as the first run was not as expected: exit code " << run.outcome.code
            << "\n"
            << run.outcome.err << std::endl;
  return attempt(overrides, with_driver);
}

std::vector<std::string> processes_naming(const std::string& text) {
  std::vector<std::string> found;
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    ProcessStat stat;
    if (!read_process(pid, stat) || stat.is_zombie()) continue;
    std::string line = read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find(text) != std::string::npos) found.push_back(std::to_string(pid) + ": " + line);
  }
  return found;
}

}  // namespace profline::e2e
