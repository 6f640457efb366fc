#include "mcp/tools.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "mcp/cited.h"
#include "run_index/run_index.h"
#include "testing/paths.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::mcp {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The recorded run of docs/examples, and a trace.
class OverARecordedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root());
    fs::copy(testing::source_dir() / "docs/examples/h200", root() / "h200",
             fs::copy_options::recursive);
    fs::copy(testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite",
             root() / "decode.sqlite");
  }
  fs::path root() const { return folder_.path() / "runs"; }

  Tools tools(AllowRun allow = AllowRun::No) {
    const std::vector<fs::path> roots = {root()};
    auto catalog = catalog::Catalog::open(roots);
    EXPECT_TRUE(catalog) << catalog.error().to_string();
    return {std::move(*catalog), services_, allow};
  }
  Result<Node> call(std::string_view tool, std::string_view arguments) {
    const auto given = parse_json(arguments, "arguments");
    EXPECT_TRUE(given) << given.error().to_string();
    return tools(AllowRun::Yes).call(tool, *given, {});
  }
  /// `what = value` of each fact.
  std::vector<std::string> facts(std::string_view tool, std::string_view arguments) {
    const auto answer = call(tool, arguments);
    EXPECT_TRUE(answer) << answer.error().to_string();
    std::vector<std::string> texts;
    if (!answer) return texts;
    for (const Node& fact : answer->find("facts")->as_list()) {
      const Node* text = fact.find("text");
      texts.push_back(fact.find("what")->as_string() + " = " +
                      (text != nullptr ? text->as_string()
                                       : write_json(*fact.find("value"), {.indent = 0}).value()));
    }
    return texts;
  }
  /// `what: why` of each thing that is missing.
  std::vector<std::string> missing(std::string_view tool, std::string_view arguments) {
    const auto answer = call(tool, arguments);
    EXPECT_TRUE(answer) << answer.error().to_string();
    std::vector<std::string> texts;
    const Node* list = answer ? answer->find("missing") : nullptr;
    if (list == nullptr) return texts;
    for (const Node& each : list->as_list()) {
      texts.push_back(each.find("what")->as_string() + ": " + each.find("why")->as_string());
    }
    return texts;
  }
  std::string failure(std::string_view tool, std::string_view arguments) {
    const auto answer = call(tool, arguments);
    return answer ? "no failure" : answer.error().to_string();
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
  Interrupt interrupt_;
  session::Services services_{processes_, interrupt_};
};

TEST_F(OverARecordedRun, ThereAreEightToolsAndANinthThatStartsRuns) {
  const auto names = [&](AllowRun allow) {
    std::string text;
    for (const ToolDescription& tool : tools(allow).list()) {
      text += std::string(tool.name) + (tool.is_read_only ? " " : "! ");
    }
    return text;
  };
  EXPECT_EQ(names(AllowRun::No), "runs summary verdict kernels compare trace explain plan ");
  EXPECT_EQ(names(AllowRun::Yes), "runs summary verdict kernels compare trace explain plan run! ");
}

TEST_F(OverARecordedRun, TheListOfToolsIsShort) {
  Tools all = tools(AllowRun::Yes);
  Server server({"profline", "1", instructions()}, all);
  const auto answer = server.answer(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_LT(answer->size(), 8000U);
}

TEST_F(OverARecordedRun, ArgumentsAreChecked) {
  EXPECT_EQ(failure("verdict", "{}"), "missing key 'run' (a string)");
  EXPECT_EQ(failure("verdict", R"({"run":"h200","phases":"decode"})"),
            "unknown key 'phases' (did you mean 'phase'?)");
  EXPECT_EQ(failure("kernels", R"({"run":"h200","top":0})"),
            "top: must be an integer from 1 to 50, not 0");
  EXPECT_EQ(failure("summary", R"({"run":3})"), "run: must be a string, not the integer 3");
  EXPECT_EQ(failure("compare", R"({"a":"h200"})"), "give either b or history");
  EXPECT_EQ(failure("compare", R"({"a":"h200","b":"h200","history":3})"),
            "give either b or history");
  EXPECT_THAT(failure("runs", R"({"metric":["token_ms<x"]})"), HasSubstr("not 'token_ms<x'"));
  EXPECT_EQ(failure("summary", R"({"run":"h20"})"),
            "there is no run 'h20' below " + root().string() + " (did you mean 'h200'?)");
}

TEST_F(OverARecordedRun, FiguresAreFound) {
  EXPECT_THAT(facts("summary", R"({"run":"h200"})"),
              Contains("decode per token: mean_ns = 5.11 ms"));
  EXPECT_THAT(facts("verdict", R"({"run":"h200","phase":"decode"})"),
              Contains("decode: class = \"launch-bound\""));
  EXPECT_THAT(facts("kernels", R"({"run":"h200","top":1})"),
              Contains("indexSelectSmallIndex grid 1056x1x1 block 128x1x1: total_ns = 56.9 ms"));
  EXPECT_THAT(facts("compare", R"({"a":"h200","history":20,"metric":["token_ms"]})"),
              Contains("token_ms: verdict = \"UNDECIDED\""));
  EXPECT_THAT(facts("trace", R"({"file":"decode.sqlite","top":1})"),
              Contains(StartsWith("all kernels: count = ")));
  EXPECT_THAT(facts("explain", R"({"key":"model.dtype","run":"h200"})"),
              Contains("model.dtype = \"bf16\""));
  EXPECT_THAT(facts("explain", R"({"key":"device"})"), Contains(StartsWith("device: help = ")));
  EXPECT_THAT(facts("summary", R"({"run":"h200","file":"env.json","figure":"driver"})"),
              Contains(HasSubstr("580.159.04")));
}

TEST_F(OverARecordedRun, WhatWasNotCapturedIsAnsweredAsSuch) {
  EXPECT_THAT(missing("summary", R"({"run":"h200","figure":"joule"})"),
              Contains("joule: nothing in summary.json of this run has such a name"));
  EXPECT_THAT(missing("verdict", R"({"run":"h200","phase":"vision"})"),
              Contains("phase 'vision': the phases of this run are: sam, clip, projector, lm, "
                       "decode"));
  EXPECT_THAT(missing("summary", R"({"run":"h200","part":"load"})"),
              Contains("load: the run is not a load on a server"));
  EXPECT_THAT(missing("runs", R"({"metric":["goodput_per_s"]})"),
              Contains(StartsWith("runs: no run below ")));
  EXPECT_THAT(missing("kernels", R"({"run":"h200","search":"no_such_kernel"})"),
              Contains(StartsWith("kernels: no kernel of this run matches")));
  EXPECT_THAT(missing("trace", R"({"file":"decode.sqlite","range":"vision"})"),
              Contains(StartsWith("range 'vision': ")));
  fs::remove(root() / "h200/summary.json");
  EXPECT_THAT(missing("verdict", R"({"run":"h200"})"),
              Contains("summary.json: the run has no summary.json; 'profline report " +
                       (root() / "h200").string() + "' writes it"));
}

TEST_F(OverARecordedRun, ASummaryThatIsNotOneIsNotCited) {
  for (const char* text : {"{", "[]", "{}", R"({"schema":"profline.summary/99"})",
                           R"({"schema":"profline.summary/2","phases":{}})"}) {
    ASSERT_TRUE(write_file_atomic(root() / "h200/summary.json", text));
    EXPECT_THAT(missing("kernels", R"({"run":"h200"})"), Contains(StartsWith("summary.json: ")))
        << text;
  }
}

TEST_F(OverARecordedRun, NothingOutsideTheRootsIsRead) {
  ASSERT_TRUE(write_file_atomic(folder_.path() / "secret.json", R"({"n":1})"));
  const std::string outside = "is not below " + root().string() + "; nothing else is read";
  EXPECT_EQ(failure("trace", R"({"file":"../secret.json"})"), "'../secret.json' " + outside);
  EXPECT_EQ(failure("summary", R"({"run":"h200","file":"../../secret.json"})"),
            "'" + (root() / "h200/../../secret.json").string() + "' " + outside);
  EXPECT_EQ(failure("compare", R"({"a":"h200","b":"/etc"})"),
            "there is no run '/etc' below " + root().string());
  EXPECT_EQ(failure("plan", R"({"overrides":["model.path=/etc"]})"),
            "override 'model.path=/etc': '/etc' " + outside);
  fs::create_symlink(folder_.path(), root() / "out");
  EXPECT_EQ(failure("plan", R"({"overrides":["dataset.root=out"]})"),
            "override 'dataset.root=out': '" + (root() / "out").string() + "' " + outside);
  EXPECT_EQ(failure("plan", R"({"overrides":["dataset.root=[x,'../../y']"]})"),
            "override 'dataset.root=[x,'../../y']': '../../y' " + outside);
  EXPECT_EQ(failure("explain", R"({"key":"device","overrides":["hydra.searchpath=[/etc]"]})"),
            "'hydra.searchpath=[/etc]': this server reads no other configurations");
  EXPECT_EQ(failure("explain", R"({"key":"device","overrides":["device=${oc.env:HOME}"]})"),
            "'device=${oc.env:HOME}': give the value instead of an interpolation");
}

TEST_F(OverARecordedRun, LinksOutOfTheRootsAreFollowedByNoTool) {
  fs::create_directories(root() / "group");
  fs::copy(root() / "h200", root() / "group/a", fs::copy_options::recursive);
  fs::copy(root() / "h200", root() / "linked", fs::copy_options::recursive);
  const std::string secret = R"({"schema":"profline.env/1","gpus":[{"name":"SECRET GPU"}]})";
  ASSERT_TRUE(write_file_atomic(folder_.path() / "env.json", secret));
  for (const fs::path& run : {root() / "group/a", root() / "linked"}) {
    fs::remove(run / "env.json");
    fs::create_symlink(folder_.path() / "env.json", run / "env.json");
  }
  const std::string refused = " is a link that leads out of " + root().string();
  for (const char* arguments : {R"({"a":"h200","b":"linked"})", R"({"a":"group","b":"h200"})",
                                R"({"a":"linked","history":3})"}) {
    EXPECT_THAT(failure("compare", arguments), HasSubstr(refused)) << arguments;
  }
  EXPECT_THAT(failure("runs", R"({"run":"linked"})"), HasSubstr(refused));
  for (const char* arguments : {"{}", R"({"find":"secret"})"}) {
    const auto runs = call("runs", arguments);
    ASSERT_TRUE(runs);
    EXPECT_THAT(write_json(*runs).value(), ::testing::Not(HasSubstr("SECRET GPU")));
  }
  EXPECT_THAT(facts("compare", R"({"a":"h200","history":3,"metric":["token_ms"]})"),
              Contains(R"(history: run = "h200")"));
}

TEST_F(OverARecordedRun, APipeIsNotWaitedFor) {
  fs::copy(root() / "h200", root() / "waits", fs::copy_options::recursive);
  fs::remove(root() / "waits/baseline/requests.jsonl");
  ASSERT_EQ(::mkfifo((root() / "waits/baseline/requests.jsonl").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((root() / "pipe.json").c_str(), 0600), 0);
  EXPECT_THAT(facts("runs", "{}"), Contains(StartsWith("h200: state = ")));
  EXPECT_THAT(failure("summary", R"({"run":"waits"})"), HasSubstr("is not a file or a folder"));
  EXPECT_EQ(failure("trace", R"({"file":"pipe.json"})"), "'pipe.json' is not a file or a folder");
}

TEST_F(OverARecordedRun, AnsweringChangesNoFile) {
  // An older index is not brought up to date either.
  auto index = run_index::RunIndex::open(root());
  ASSERT_TRUE(index);
  ASSERT_TRUE(index->refresh());
  fs::copy(root() / "h200", root() / "later", fs::copy_options::recursive);

  const auto state = [&] {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      text += entry.path().string();
      if (entry.is_regular_file()) {
        text += std::to_string(entry.file_size()) +
                std::to_string(entry.last_write_time().time_since_epoch().count());
      }
      text += '\n';
    }
    return text;
  };
  const std::string before = state();
  for (const char* tool : {"runs", "explain", "plan"}) {
    EXPECT_TRUE(call(tool, std::string_view(tool) == "explain" ? R"({"key":"device"})" : "{}"));
  }
  for (const char* tool : {"summary", "verdict", "kernels"}) {
    EXPECT_TRUE(call(tool, R"({"run":"h200"})"));
  }
  EXPECT_TRUE(call("compare", R"({"a":"h200","b":"h200"})"));
  EXPECT_TRUE(call("compare", R"({"a":"h200","history":3})"));
  EXPECT_TRUE(call("trace", R"({"file":"decode.sqlite"})"));
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace profline::mcp
