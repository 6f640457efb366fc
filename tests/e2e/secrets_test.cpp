// What a run records about tokens, passwords and keys: only their names.

#include <sys/stat.h>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "nsight_tools.h"
#include "run_folder.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Invented, each of a different kind: after an option, in a URL, by its pattern, in the
// environment.
constexpr const char* kOption = "opensesame-77";
constexpr const char* kPassword = "hunter2hunter";
constexpr const char* kShape = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH";
constexpr const char* kVariable = "swordfish-of-the-environment";
constexpr const char* kAll[] = {kOption, kPassword, kShape, kVariable};

/// Files below `folder` that contain one of the secrets.
std::vector<std::string> leaks_in(const fs::path& folder) {
  std::vector<std::string> leaks;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_file(entry.path()).value_or("");
    for (const char* secret : kAll) {
      if (text.find(secret) == std::string::npos) continue;
      leaks.push_back(entry.path().lexically_relative(folder).string() + ": " + secret);
    }
  }
  std::sort(leaks.begin(), leaks.end());
  return leaks;
}

unsigned mode_of(const fs::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 0777U;
}

class Secrets : public ::testing::Test {
 protected:
  Secrets() {
    // The program fails unless it gets its secrets, and prints all of them.
    write_files(folder_.path(),
                {{"serve.sh", std::string("echo \"$@\"\necho \"$HF_TOKEN\" >&2\n[ \"$2\" = ") +
                                  kOption + " ] && [ \"$3\" = https://me:" + kPassword +
                                  "@host/x ] && [ \"$4\" = " + kShape + " ]\n"}});
    base_.cwd = folder_.path();
    base_.env["HF_TOKEN"] = kVariable;
  }
  std::string command() const {
    return std::string("pipeline.workload.command=[sh,serve.sh,--token,") + kOption +
           ",'https://me:" + kPassword + "@host/x'," + kShape + "]";
  }
  std::vector<std::string> words() const {
    std::vector<std::string> words =
        tiny_run({"pipeline.baseline.enable=true", "experiment='with ${oc.env:HF_TOKEN}'"});
    words.push_back(command());
    return words;
  }

  testing::TempDir folder_;
  Command base_;
};

TEST_F(Secrets, AreInNoFileOfARunThoughItsProgramGotThem) {
  const Outcome outcome = run_profline(words(), base_);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(leaks_in(folder_ / "run"), IsEmpty());
  EXPECT_THAT(damage_in(folder_ / "run"), IsEmpty());
  const fs::path run = folder_ / "run";
  const RunRecord record = record_of(run);
  const StageRecord* baseline = record.find_stage("baseline");
  ASSERT_NE(baseline, nullptr);
  ASSERT_EQ(baseline->commands.size(), 1U);
  EXPECT_THAT(baseline->commands[0].argv,
              ::testing::ElementsAre("sh", "serve.sh", "--token", "<redacted>",
                                     "https://me:<redacted>@host/x", "<redacted>"));
  ASSERT_FALSE(record.findings.empty());
  EXPECT_EQ(record.findings.back().code, "redacted");
  EXPECT_EQ(record.findings.back().text,
            "values that look like secrets are replaced by <redacted> in the files of this run: "
            "pipeline.workload.command, experiment");
  EXPECT_THAT(
      read_file(run / "config.yaml").value(),
      AllOf(::testing::StartsWith("# Values that look like secrets were replaced by <redacted>.\n"),
            HasSubstr("experiment: with ${oc.env:HF_TOKEN}\n")));
  EXPECT_THAT(read_file(run / "overrides.yaml").value(), HasSubstr("--token,<redacted>"));
  EXPECT_THAT(read_file(run / "report.html").value(), HasSubstr("&lt;redacted&gt;"));
  EXPECT_THAT(read_file(run / "run.log").value(), HasSubstr("--token '<redacted>'"));
  EXPECT_THAT(read_file(run / "baseline/log").value(),
              HasSubstr("--token <redacted> https://me:<redacted>@host/x <redacted>\n"));
}

TEST_F(Secrets, FilesThatHoldCommandLinesAreForTheirOwnerAlone) {
  ASSERT_EQ(run_profline(words(), base_).code, 0);
  for (const char* file : {"run.json", "run.log", "config.yaml", "overrides.yaml",
                           "config.resolved.json", "config.origins.json", "inputs.yaml",
                           "report.html", "baseline/status.json", "baseline/log"}) {
    EXPECT_EQ(mode_of(folder_ / "run" / file), 0600U) << file;
  }
}

TEST_F(Secrets, AreNotShownByPlan) {
  for (const char* format : {"text", "json"}) {
    std::vector<std::string> plan = words();
    plan[0] = "plan";
    plan.insert(plan.end(), {"--format", format});
    const Outcome outcome = run_profline(plan, base_);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* secret : kAll) {
      EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr(secret))) << format;
    }
    EXPECT_THAT(outcome.out, HasSubstr("<redacted>")) << format;
  }
}

TEST_F(Secrets, OfAnOverrideAreAskedForAgainByAResume) {
  ASSERT_EQ(run_profline(words(), base_).code, 0);
  const Outcome without = run_profline({"run", "--resume", "run"}, base_);
  EXPECT_EQ(without.code, 2);
  EXPECT_EQ(
      without.err,
      "profline: the run's files do not have the value of "
      "'pipeline.workload.command=[sh,serve.sh,--token,<redacted>,'https://me:<redacted>@host/"
      "x',<redacted>]', which looked like a secret; give it again: --resume RUN "
      "pipeline.workload.command=VALUE\n");
  const Outcome with = run_profline({"run", "--resume", "run", command()}, base_);
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_THAT(with.err, HasSubstr("nothing is left to run: every stage is ok and its inputs are "
                                  "the same\n"));
  base_.env["HF_TOKEN"] = std::string(kVariable) + "-renewed";
  const Outcome renewed = run_profline({"run", "--resume", "run", command()}, base_);
  EXPECT_THAT(renewed.err, HasSubstr("nothing is left to run: ")) << "a new token is no new input";
  EXPECT_THAT(leaks_in(folder_ / "run"), IsEmpty());
}

TEST_F(Secrets, OfTheEnvironmentNeedNothingMoreOfAResume) {
  std::vector<std::string> words = tiny_run({"pipeline.baseline.enable=true"});
  words.emplace_back(
      "pipeline.workload.command=[sh,-c,'[ \"$1\" = \"$HF_TOKEN\" ]',sh,'${oc.env:HF_TOKEN}']");
  const Outcome outcome = run_profline(words, base_);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(leaks_in(folder_ / "run"), IsEmpty());
  const Outcome resumed = run_profline({"run", "--resume", "run"}, base_);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("nothing is left to run: "));
}

/// A white picture of 8 x 8.
std::string white_png() {
  constexpr char kBytes[] =
      "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x08"
      "\x00\x00\x00\x08\x08\x00\x00\x00\x00\xe1\x64\xe1\x57\x00\x00\x00\x0e\x49\x44\x41"
      "\x54\x78\xda\x63\xf8\x0f\x05\x0c\x94\x31\x00\xf7\xc0\x3f\xc1\xaf\x5c\x0f\xcd\x00"
      "\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
  return {kBytes, sizeof kBytes - 1};
}

TEST_F(Secrets, ReachTheBuiltInWorkloadByItsEnvironment) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const fs::path program = workload_script(
      folder_.path(),
      "[ -n \"$PROFLINE_CONFIG_SECRETS\" ] && printf %s \"$PROFLINE_CONFIG_SECRETS\" > '" +
          (folder_ / "seen").string() + "'\nexec \"$REAL\" \"$@\"");
  // The folder's name matches the pattern of a token; the page is read from it anyway.
  const std::string page = std::string(kShape) + "/page.png";
  write_files(folder_.path(), {{page, white_png()}});
  std::vector<std::string> words =
      tiny_run({"pipeline.baseline.enable=true", "--workload", program.string(), "dataset=files",
                "dataset.files=[" + page + "]"});
  std::erase(words, "dataset.pages=1");
  std::erase(words, "dataset.page_sizes=[96x64]");
  const Outcome outcome = run_profline(words, base_);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_file(folder_ / "seen").value_or(""),
            "{\"dataset\":{\"files\":[\"" + page + "\"]}}");
  for (const char* file : {"config.yaml", "config.resolved.json", "overrides.yaml", "run.json"}) {
    EXPECT_THAT(read_file(folder_ / "run" / file).value(), Not(HasSubstr(kShape))) << file;
  }
}

TEST_F(Secrets, OfARunOfAnOlderVersionAreNotInItsReports) {
  ASSERT_EQ(run_profline(words(), base_).code, 0);
  std::string text = read_file(folder_ / "run/run.json").value();
  const std::size_t at = text.find("\"<redacted>\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string("\"<redacted>\"").size(), std::string("\"") + kShape + "\"");
  ASSERT_TRUE(write_file_atomic(folder_ / "run/run.json", text));
  ASSERT_EQ(run_profline({"report", "run"}, base_).code, 0);
  EXPECT_THAT(leaks_in(folder_ / "run"), IsEmpty());
}

TEST_F(Secrets, AreNotInTheCommandFilesOfNsys) {
  std::string why;
  const auto tools = nsight_tools(why);
  if (!tools) GTEST_SKIP() << why;
  Command base = tools->environment();
  base.cwd = folder_.path();
  base.env["HF_TOKEN"] = kVariable;
  std::vector<std::string> with_nsys = words();
  with_nsys.insert(with_nsys.end(),
                   {"pipeline.baseline.enable=false", "pipeline.nsys.enable=true"});
  const Outcome outcome = run_profline(with_nsys, base);
  const fs::path folder = folder_ / "run/nsys";
  ASSERT_TRUE(fs::exists(folder / "cmd.txt")) << outcome.err;
  EXPECT_EQ(mode_of(folder / "cmd.txt"), 0600U);
  std::vector<std::string> leaks = leaks_in(folder_ / "run");
  std::erase_if(leaks, [](const std::string& leak) {  // nsys records command lines unchanged
    return leak.find(".nsys-rep: ") != std::string::npos ||
           leak.find(".sqlite: ") != std::string::npos ||
           leak.find(".qdstrm: ") != std::string::npos;
  });
  EXPECT_THAT(leaks, IsEmpty());
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".nsys-rep" && ending != ".sqlite") continue;
    EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
  }
}

}  // namespace
}  // namespace profline::e2e
