// `profline run -- PROGRAM`: the user's own program, with what it records of itself.

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "records/request.h"
#include "run_folder.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

/// Writes what the Python adapter would: a model, and three requests of four tokens each.
constexpr const char* kRecordingScript = R"(
import json, os, sys
folder = os.environ["PROFLINE_RECORD_DIR"]
rows = [{"kind": "process", "schema": "profline.python/1", "pid": os.getpid(), "python": "3.12"},
        {"kind": "model", "id": 0, "class": "TinyLM", "config": {"hidden_size": 8},
         "parameters": {"count": 10, "bytes": 20, "by_dtype": {"bfloat16": 10}},
         "dtype": "bfloat16", "device": "cpu", "compiled": False}]
for i in range(3):
    first = 90000000 if i == 0 else 20000000
    rows.append({"kind": "request", "source": "python", "start_ns": 1000000000 * (i + 1),
                 "ns": first + 33000000, "ttft_ns": first + 3000000, "prompt_tokens": 16,
                 "new_tokens": 4, "batch": 1, "pid": os.getpid(), "thread": 1, "model": 0,
                 "phases": [{"path": "setup", "start_ns": 0, "ns": 3000000},
                            {"path": "prefill", "start_ns": 3000000, "ns": first},
                            {"path": "decode", "start_ns": first + 3000000, "ns": 30000000,
                             "steps_ns": [9900000, 10000000, 10100000]}],
                 "attributes": {"mode": "greedy_search", "dtype": "bfloat16"}})
rows.append({"kind": "problem", "text": "assisted generation is not recorded"})
with open(os.path.join(folder, "python-%d-1.jsonl" % os.getpid()), "a") as out:
    for row in rows:
        out.write(json.dumps(row) + "\n")
    out.write("{torn")
print(sys.argv[1:])
)";

class RunProgram : public ::testing::Test {
 protected:
  Outcome run(Words before, const Words& program) {
    Words words = {"run", "hydra.run.dir=run", "device=cpu", "pipeline.nsys.enable=false"};
    words.insert(words.end(), before.begin(), before.end());
    words.emplace_back("--");
    words.insert(words.end(), program.begin(), program.end());
    return run_profline_in(folder_.path(), words);
  }
  fs::path folder() const { return fs::canonical(folder_ / "run"); }
  std::string text(const std::string& file) const {
    return read_file(folder() / file).value_or("");
  }
  Node json(const std::string& file) const {
    auto node = parse_json(text(file), file);
    EXPECT_TRUE(node) << node.error().to_string();
    return node ? *node : Node();
  }

  testing::TempDir folder_;
};

TEST_F(RunProgram, NeedsNoConfigAndPassesTheWordsUnchanged) {
  write_files(folder_.path(), {{"show.sh", "for word; do printf '<%s>\\n' \"$word\"; done\n"}});
  const Words words = {"sh", "show.sh", "--batch=4", "--", "a b", "", "${HOME}", "it's", "[1,2]"};
  const Outcome outcome = run({}, words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(text("baseline/log"), "<--batch=4>\n<-->\n<a b>\n<>\n<${HOME}>\n<it's>\n<[1,2]>\n");
  const RunRecord record = record_of(folder());
  EXPECT_EQ(record.experiment, "show.sh");
  EXPECT_EQ(record.command_line.config_name, "program");
  EXPECT_EQ(state_of(record, "baseline"), StageState::Ok);
  EXPECT_EQ(state_of(record, "static_analysis"), StageState::Skipped);
  EXPECT_EQ(state_of(record, "torch_profiler"), StageState::Skipped);
  EXPECT_EQ(state_of(record, "ncu"), StageState::Off);
  EXPECT_THAT(text("report.md"), HasSubstr("phases are unknown: the program marks no requests"));
  EXPECT_THAT(damage_in(folder()), IsEmpty());

  const Outcome again = run_profline_in(
      folder_.path(), {"run", "--resume", "run", "pipeline.workload.request_range=step"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("baseline runs: its config, command or tool changed"));
  EXPECT_EQ(text("baseline/log"), "<--batch=4>\n<-->\n<a b>\n<>\n<${HOME}>\n<it's>\n<[1,2]>\n");
}

TEST_F(RunProgram, ReportsTheRequestsThatItRecorded) {
  write_files(folder_.path(), {{"infer.py", kRecordingScript}});
  const Outcome outcome = run({}, {"python3", "infer.py", "--x"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(text("baseline/log"), "['--x']\n");
  EXPECT_EQ(record_of(folder()).experiment, "infer.py");
  const auto requests = parse_requests(text("baseline/requests.jsonl"), "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 3U);
  EXPECT_EQ(requests->front().source, RequestSource::Python);
  EXPECT_EQ(requests->back().id, 2U);
  EXPECT_EQ(requests->back().integer("model"), 0);
  const Node models = json("baseline/models.json");
  EXPECT_EQ(models.find("schema")->as_string(), "profline.models/1");
  EXPECT_EQ(models.find_path("models.0.class")->as_string(), "TinyLM");
  const Node steady = json("baseline/steady.json");
  EXPECT_EQ(steady.find("schema")->as_string(), "profline.steady/1");
  EXPECT_EQ(steady.find("requests")->as_int(), 3);
  EXPECT_FALSE(fs::exists(folder() / "baseline/ranges.json"));
  const Node summary = json("summary.json");
  EXPECT_FALSE(summary.find("program")->is_null());
  EXPECT_EQ(summary.find_path("request.unit")->as_string(), "request");
  EXPECT_EQ(summary.find_path("request.requests")->as_int(), 3);
  const std::string report = text("report.md");
  EXPECT_THAT(report, AllOf(HasSubstr("3 requests recorded by the Python adapter"),
                            HasSubstr("assisted generation is not recorded"),
                            HasSubstr("a line was skipped: python-"), HasSubstr("decode")));
  for (const char* page : {"report.md", "stakeholder_summary.md", "summary.json"}) {
    EXPECT_THAT(text(page), Not(HasSubstr("image"))) << page;
  }
  // The ids of charts and tables in the page contain the word, but nothing that is shown does.
  const std::string html = text("report.html");
  EXPECT_THAT(html, HasSubstr("time of each request"));
  EXPECT_THAT(html, HasSubstr(R"({"name":"prefill","unit":"request","times_ns":)"));
  for (const char* words : {"image by image", "per image", "measured image", "each image"}) {
    EXPECT_THAT(html, Not(HasSubstr(words))) << words;
  }
  EXPECT_THAT(damage_in(folder()), IsEmpty());
  const Outcome runs = run_profline_in(folder_.path(), {"runs", "--root", "."});
  EXPECT_EQ(runs.code, 0) << runs.err;
  EXPECT_THAT(runs.out, HasSubstr("infer.py"));
  const Outcome compared = run_profline_in(folder_.path(), {"compare", "run", "run"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, Not(HasSubstr("image")));
}

TEST_F(RunProgram, IsOfTheCommitThatItsRepositoryHasCheckedOut) {
  write_files(folder_.path(), {{"sources/bench.sh", "true\n"}});
  const auto git = [&](const char* script) {
    const Outcome done = run_command({.argv = {"sh", "-ec", script},
                                      .env = {{"GIT_CONFIG_NOSYSTEM", "1"},
                                              {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                              {"GIT_AUTHOR_NAME", "a"},
                                              {"GIT_AUTHOR_EMAIL", "a@example.org"},
                                              {"GIT_COMMITTER_NAME", "a"},
                                              {"GIT_COMMITTER_EMAIL", "a@example.org"}},
                                      .cwd = folder_ / "sources"});
    EXPECT_EQ(done.code, 0) << done.err;
    return std::string(trim(done.out));
  };
  if (run_command({.argv = {"git", "--version"}}).code != 0) GTEST_SKIP() << "git is not installed";
  const auto recorded = [&](const std::string& where) {
    fs::remove_all(folder_ / "run");
    const Outcome outcome =
        run({"pipeline.workload.cwd=" + where}, {"sh", (folder_ / "sources/bench.sh").string()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json("env.json").find("source_commit")->as_string();
  };
  const std::string first =
      git("git init -q . && git add . && git commit -qm one && git rev-parse HEAD");
  EXPECT_EQ(first.size(), 40U);
  EXPECT_EQ(recorded("sources"), first);
  const Outcome runs = run_profline_in(folder_.path(), {"runs", "--root", ".", "--format", "json"});
  EXPECT_THAT(runs.out, HasSubstr("\"commit\": \"" + first + "\""));
  const std::string second = git(
      "git commit -q --allow-empty -m two && git pack-refs --all && git worktree add -q ../tree "
      "HEAD~1 && git rev-parse HEAD");
  EXPECT_NE(second, first);
  EXPECT_EQ(recorded("sources"), second);
  EXPECT_EQ(recorded("tree"), first);
}

/// Ten requests, one of which captures a CUDA graph; its torch is a stand-in.
constexpr const char* kCapturingScript = R"(
import time, profline, torch.cuda.graphs
for i in range(10):
    with profline.request(), profline.phase("prefill"):
        time.sleep(0.005)
        if i == 5:
            with torch.cuda.graphs.graph():
                time.sleep(0.5)
)";
constexpr const char* kGraphs = R"(
class graph:
    def __enter__(self): pass
    def __exit__(self, *failure): pass
)";

TEST_F(RunProgram, LeavesTheCaptureOfAGraphOutOfItsMeans) {
  write_files(folder_.path(), {{"infer.py", kCapturingScript},
                               {"torch/__init__.py", ""},
                               {"torch/cuda/__init__.py", ""},
                               {"torch/cuda/graphs.py", kGraphs}});
  const Outcome outcome = run({}, {"python3", "infer.py"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Node summary = json("summary.json");
  const Node* cost = summary.find_path("one_time.0");
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->find("phase")->as_string(), "prefill");
  EXPECT_EQ(cost->find("reason")->as_string(), "marked");
  EXPECT_THAT(text("report.md"), HasSubstr("reported by the workload"));
}

/// Opens ranges through the recorder that the program finds in its environment, as a C program
/// does.
constexpr const char* kRangesScript = R"(
import ctypes, os, sys
recorder = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
def opened(name, inside):
    recorder.profline_range_push(name.encode())
    inside()
    recorder.profline_range_pop()
def decode():
    for token in range(3):
        opened("decode_step", lambda: None)
def work():
    opened("prefill", lambda: None)
    opened("decode", decode)
for i in range(2):
    opened(sys.argv[1], work)
)";

TEST_F(RunProgram, ReportsRangesAsRequestsOrByName) {
  if (!fs::exists(profline_program().parent_path().parent_path() /
                  "lib/profline/libprofline-recorder.so")) {
    GTEST_SKIP() << "the recorder is not built";
  }
  write_files(folder_.path(), {{"ranges.py", kRangesScript}});
  const Words without_python = {"pipeline.workload.python=off"};
  ASSERT_EQ(run(without_python, {"python3", "ranges.py", "request"}).code, 0);
  const auto requests = parse_requests(text("baseline/requests.jsonl"), "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 2U);
  EXPECT_EQ(requests->front().source, RequestSource::Nvtx);
  ASSERT_NE(requests->front().find_phase("decode"), nullptr);
  EXPECT_EQ(
      requests->front().find_phase("decode")->steps_ns.value_or(std::vector<std::int64_t>{}).size(),
      3U);
  EXPECT_THAT(text("report.md"), HasSubstr("2 requests recorded, from the ranges named 'request'"));

  fs::remove_all(folder());
  ASSERT_EQ(run(without_python, {"python3", "ranges.py", "work"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "baseline/requests.jsonl"));
  const Node ranges = json("baseline/ranges.json");
  EXPECT_EQ(ranges.find("schema")->as_string(), "profline.recorded_ranges/1");
  EXPECT_EQ(ranges.find_path("ranges.0.name")->as_string(), "work");
  EXPECT_THAT(text("report.md"), HasSubstr("name the range that is one request: "
                                           "pipeline.workload.request\\_range=work"));
}

TEST_F(RunProgram, LeavesPythonAloneIfAsked) {
  const Words show = {"sh", "-c", "echo $PROFLINE_PYTHON$PROFLINE_GATE"};
  ASSERT_EQ(run({"pipeline.workload.python=off"}, show).code, 0);
  EXPECT_EQ(text("baseline/log"), "\n");
}

TEST_F(RunProgram, ThatFailsFailsTheStageWithItsOutput) {
  const Outcome outcome = run({}, {"sh", "-c", "echo to-stderr >&2; exit 7"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(text("baseline/log"), "to-stderr\n");
  EXPECT_EQ(state_of(record_of(folder()), "baseline"), StageState::Failed);
  EXPECT_EQ(json("baseline/process.json").find("end")->as_string(), "exited with code 7");
  EXPECT_THAT(json("summary.json").find("verdict")->as_string(),
              ContainsRegex("^The program failed: exited with code 7 after [0-9.]+ m?s; its output "
                            "is in baseline/log$"));
  EXPECT_THAT(outcome.out, HasSubstr("The program failed: exited with code 7"));
  EXPECT_THAT(text("report.md"), Not(HasSubstr("unit of work")));
}

/// Three requests, then whatever the words of its command line say.
constexpr const char* kRequestsThen = R"(
import os, signal, sys, time
import profline
for _ in range(3):
    with profline.request():
        pass
print("done", flush=True)
exec(sys.argv[1])
)";

TEST_F(RunProgram, ThatIsKilledOrHangsKeepsTheRequestsItMade) {
  struct Case {
    std::string_view name, then, timeout, end;
    StageState state;
  };
  constexpr Case kCases[] = {
      {"killed", "os.kill(os.getpid(), signal.SIGKILL)", "null", "SIGKILL", StageState::Failed},
      {"hung", "time.sleep(1000)", "3", "", StageState::TimedOut},
      {"crashed", "os.abort()", "null", "SIGABRT", StageState::Failed},
      {"left without cleaning up", "os._exit(5)", "null", "exited with code 5", StageState::Failed},
  };
  write_files(folder_.path(), {{"infer.py", kRequestsThen}});
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = run({"pipeline.baseline.timeout=" + std::string(c.timeout)},
                                {"python3", "infer.py", std::string(c.then)});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(state_of(record_of(folder()), "baseline"), c.state);
    EXPECT_EQ(text("baseline/log").substr(0, 5), "done\n");
    EXPECT_THAT(json("baseline/process.json").find("end")->as_string(), HasSubstr(c.end));
    const auto requests = parse_requests(text("baseline/requests.jsonl"), "requests.jsonl");
    ASSERT_TRUE(requests) << requests.error().to_string();
    EXPECT_EQ(requests->size(), 3U);
    fs::remove_all(folder_ / "run");
  }
}

TEST_F(RunProgram, InAnOddEnvironmentRunsAsItWouldAlone) {
  struct Case {
    std::string_view name;
    Words program;
    std::size_t requests;
    std::string_view why{};  // there are none
  };
  const Words python = {"python3", "infer.py", "pass"};
  const auto with = [&](Words words) {
    words.insert(words.end(), python.begin(), python.end());
    return words;
  };
  const Case cases[] = {
      {"a home that cannot be written", with({"env", "HOME=/proc"}), 3},
      {"no home", with({"env", "-u", "HOME"}), 3},
      {"no temporary folder", with({"env", "TMPDIR=/nowhere"}), 3},
      {"a sitecustomize that fails",
       {"sh", "-c", "PYTHONPATH=$PYTHONPATH:own python3 infer.py pass"},
       3},
      {"a path of Python's own, without the adapter", with({"env", "PYTHONPATH=own:stub"}), 0,
       "profline's Python adapter did not start: PYTHONPATH was replaced, or Python was started "
       "with -E, -I or -S or is older than 3.9"},
      {"an isolated Python",
       {"python3", "-I", "-c", "print('done')"},
       0,
       "Python was started with -I, so profline's Python adapter did not start"},
      {"a Python without sites",
       {"python3", "-BS", "-c", "print('done')"},
       0,
       "Python was started with -S, so profline's Python adapter did not start"},
      {"a Python that ignores the environment",
       {"python3", "-E", "-c", "print('done')"},
       0,
       "Python was started with -E, so profline's Python adapter did not start"},
      {"a Python that marks nothing",
       {"python3", "-c", "print('done')"},
       0,
       "the program marks no requests"},
      {"a shell between", {"sh", "-c", "python3 infer.py pass; python3 infer.py pass"}, 6},
  };
  write_files(folder_.path(),
              {{"infer.py", kRequestsThen},
               {"own/sitecustomize.py", "raise RuntimeError('broken')\n"},
               {"stub/profline.py", "import contextlib\nrequest = contextlib.nullcontext\n"}});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = run({}, c.program);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(text("baseline/log"), HasSubstr("done\n"));
    const auto requests = parse_requests(text("baseline/requests.jsonl"), "requests.jsonl");
    EXPECT_EQ(requests ? requests->size() : 0, c.requests);
    EXPECT_THAT(text("report.md"), HasSubstr(c.why));
    const bool can_mark = c.requests == 0 && c.why == "the program marks no requests";
    EXPECT_EQ(text("report.md").find("import profline") != std::string::npos, can_mark);
    fs::remove_all(folder_ / "run");
  }
}

TEST_F(RunProgram, ThatIsAbsentIsReportedBeforeAnythingStarts) {
  const Outcome outcome = run({}, {"no-such-program", "x"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("cannot run 'no-such-program'"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));

  write_files(folder_.path(), {{"infer.py", "print(1)\n"}});
  for (const std::string word : {"infer.py", "./infer.py"}) {
    EXPECT_THAT(run({}, {word, "a b"}).err,
                HasSubstr("name its interpreter: profline run -- python3 " + word + " 'a b'"));
  }
}

TEST_F(RunProgram, IsSweptLikeAnythingElse) {
  const Outcome outcome = run_profline_in(
      folder_.path(), {"run", "-m", "hydra.sweep.dir=sweep", "device=cpu",
                       "pipeline.nsys.enable=false", "experiment=a,b", "--", "echo", "1,2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* job : {"sweep/0", "sweep/1"}) {
    EXPECT_EQ(read_file(folder_ / job / "baseline/log").value_or(""), "1,2\n") << job;
  }
}

TEST_F(RunProgram, IsPlannedWithItsEnvironment) {
  const Outcome outcome = run_profline_in(
      folder_.path(), {"plan", "hydra.run.dir=run", "device=cpu", "pipeline.nsys.enable=false",
                       "--", "python3", "-c", "print(1)"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string run = (fs::canonical(folder_.path()) / "run").string();
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("PROFLINE_RECORD_DIR=" + run + "/baseline/recorded"),
                                 HasSubstr("python3 -c 'print(1)'"), HasSubstr("static_analysis")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  const Outcome dry = run_profline_in(
      folder_.path(), {"run", "--dry-run", "hydra.run.dir=run", "device=cpu",
                       "pipeline.nsys.enable=false", "--", "python3", "-c", "print(1)"});
  EXPECT_EQ(dry.out, outcome.out);
  const Outcome key =
      run_profline_in(folder_.path(), {"explain", "pipeline.workload.command", "--", "./a", "b"});
  ASSERT_EQ(key.code, 0) << key.err;
  EXPECT_THAT(key.out, StartsWith("pipeline.workload.command = [./a, b]\n"));
}

TEST_F(RunProgram, InTheWrongPlaceGetsALineThatShowsTheRightOne) {
  struct Case {
    Words arguments;
    std::string_view err;
  };
  const Case cases[] = {
      {{"sh", "x.sh"}, "'sh' is not a command; to profile a program: profline run -- sh x.sh"},
      {{"run", "x.py", "--n", "3"},
       "'x.py' is not an override (KEY=VALUE); to profile a program: profline run -- python3 x.py "
       "--n 3"},
      {{"profile", "sh", "x.sh"},
       "'profile' is not a command; to profile a program: profline run -- sh x.sh"},
      {{"run", "--nsys", "--", "sh", "x.sh"},
       "--nsys needs a value, PROGRAM; see 'profline --help'"},
      {{"run", "sh", "--", "x.sh"},
       "'sh' is not an override (KEY=VALUE); to profile a program: profline run -- sh x.sh"},
      {{"./a.out"}, "'./a.out' is not a command; to profile a program: profline run -- ./a.out"},
      {{"run", "--"}, "no program follows '--'; name it, as in: profline run -- python3 infer.py"},
      {{"--", "sh", "x.sh"},
       "no command comes before '--'; to profile a program: profline run -- sh x.sh"},
      {{"demo", "--", "sh"},
       "'profline demo' runs the built-in model only; to profile a program: profline run -- sh"},
      {{"run", "pipeline.workload.command=[sh]", "--", "sh"},
       "the program is named twice: by pipeline.workload.command and after '--'; leave one out"},
      {{"run", "--resume", "run", "--", "sh"},
       "a program after '--' does not go with --resume: a run keeps its program"},
      {{"run", "server=vllm", "--", "sh"},
       "override 1:1:1: there is no key 'server'; to choose from the group write "
       "workload/server=vllm\n  server=vllm\n  ^"},
      {{"run", "-cn", "program"},
       "<profline>/program.yaml:42:11: pipeline.workload.kind: program needs a command line: put "
       "it after '--', "
       "as in 'profline run -- python3 infer.py', or set command or module"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.arguments));
    const Outcome outcome = run_profline_in(folder_.path(), c.arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "profline: " + std::string(c.err) + "\n");
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace profline::e2e
