// One SIGINT, SIGTERM or SIGHUP ends a command at any point, and leaves nothing half-done.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "made_runs.h"
#include "run_folder.h"
#include "started_profline.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

/// A pipe without data in place of a file: its reader waits forever.
class SilentPipe {
 public:
  explicit SilentPipe(fs::path path) : path_(std::move(path)) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0) << path_;
  }

  /// Waits until someone reads it; from then on this is its only writer.
  bool is_read_by(const Started& reader) {
    return comes_true(
        [&] {
          if (!writer_.is_open()) writer_ = open_descriptor(path_.c_str(), O_WRONLY | O_NONBLOCK);
          return writer_.is_open();
        },
        &reader);
  }

 private:
  fs::path path_;
  FileDescriptor writer_;
};

/// How it ended after this one signal: an exit code, or minus a signal.
int end_from(Started& profline, int signal) {
  ::kill(profline.pid(), signal);
  const bool has_ended = profline.ends_within(std::chrono::seconds(60));
  EXPECT_TRUE(has_ended) << "it takes no notice";
  return profline.end(has_ended ? 0 : SIGKILL);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Signals, OneEndsEveryCommandThatWaitsForAFile) {
  const std::string tiny = "pipeline.static_analysis.use_synthetic_inputs=false";
  const Words listed = {"--config-name",
                        "demo",
                        "device=cpu",
                        "dataset=omnidocbench",
                        "dataset.root=data",
                        tiny,
                        "dataset.subset_filelist=pipe"};
  const auto with = [&](const std::string& verb) {
    Words words = listed;
    words.insert(words.begin(), verb);
    return words;
  };
  struct Case {
    Words words;
    std::string pipe;
  };
  const Case cases[] = {
      {{"trace", "pipe"}, "pipe"},
      {{"trace", "--export", "json", "--to", "t.json", "pipe"}, "pipe"},
      {{"analyze", "--model-config", "pipe", "--prompt", "1", "--new", "1"}, "pipe"},
      {with("analyze"), "pipe"},
      {with("plan"), "pipe"},
      {with("run"), "pipe"},
      {{"report", "runs/r1"}, "runs/r1/run.json"},
      {{"compare", "runs/r1", "runs/r1"}, "runs/r1/run.json"},
      {{"run", "--resume", "runs/r1"}, "runs/r1/run.json"},
  };
  for (const Case& c : cases) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      SCOPED_TRACE(c.words.front() + ' ' + c.words.back() + ' ' + ::strsignal(signal));
      const testing::TempDir folder;
      fs::create_directory(folder / "data");
      MadeRun{.id = "r1"}.write(folder / "runs/r1");
      fs::remove(folder / c.pipe);
      SilentPipe pipe(folder / c.pipe);
      const auto before = names_in(folder.path());
      Started profline(folder.path(), c.words);
      ASSERT_TRUE(pipe.is_read_by(profline)) << read_file(folder / "err").value_or("");
      EXPECT_EQ(end_from(profline, signal), 130);
      EXPECT_EQ(read_file(folder / "err").value_or(""), "profline: interrupted\n");
      fs::remove(folder / "err");
      EXPECT_EQ(names_in(folder.path()), before);
    }
  }
}

TEST(Signals, OneEndsWhatOnlyAsksOtherPrograms) {
  const testing::TempDir folder;
  // A tool that never answers and ignores signals, in all its processes.
  write_files(folder.path(), {{"nsys",
                               "#!/bin/sh\ntrap '' INT TERM\n: >asked\n"
                               "while :; do sleep 1000; done\n"}});
  fs::permissions(folder / "nsys", fs::perms::owner_all);
  const std::string nsys = (folder / "nsys").string();
  const Words cases[] = {
      {"doctor", "--nsys", nsys},
      {"plan", "--config-name", "demo", "device=cpu", "pipeline.nsys.enable=true", "--nsys", nsys},
      {"run", "--config-name", "demo", "device=cpu", "pipeline.nsys.enable=true", "--nsys", nsys,
       "hydra.run.dir=made/run"}};
  for (const Words& words : cases) {
    SCOPED_TRACE(words.front());
    Started profline(folder.path(), words);
    ASSERT_TRUE(comes_true([&] { return fs::exists(folder / "asked"); }, &profline))
        << read_file(folder / "err").value_or("");
    EXPECT_EQ(end_from(profline, SIGINT), 130);
    EXPECT_EQ(read_file(folder / "err").value_or(""), "profline: interrupted\n");
    EXPECT_THAT(processes_of(folder.path()), IsEmpty());
    fs::remove(folder / "asked");
    fs::remove(folder / "err");
    EXPECT_THAT(names_in(folder.path()), ElementsAre("nsys"));
  }
}

TEST(Signals, OneEndsARunThatReadsWhatItsStagesLeft) {
  const testing::TempDir folder;
  // The reports read the requests that a program may record; these never arrive.
  Started profline(
      folder.path(),
      own_command_run("[sh,-c,'mkfifo \"$PROFLINE_RUN_DIR/baseline/requests.jsonl\"']"));
  const fs::path pipe = folder / "run/baseline/requests.jsonl";
  FileDescriptor writer;
  ASSERT_TRUE(comes_true(
      [&] {
        writer = open_descriptor(pipe.c_str(), O_WRONLY | O_NONBLOCK);
        return writer.is_open();
      },
      &profline))
      << read_file(folder / "err").value_or("");
  EXPECT_EQ(end_from(profline, SIGINT), 130);
  fs::remove(pipe);
  const RunRecord record = record_of(folder / "run");
  EXPECT_EQ(record.state, RunState::Interrupted);
  EXPECT_EQ(record.exit_code, 130);
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  EXPECT_FALSE(fs::exists(folder / "run/.reserve"));
}

}  // namespace
}  // namespace profline::e2e
