#include "serve/site.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"
#include "run_index/testing_runs.h"
#include "serve/internal/run_files.h"
#include "statistics/summary.h"
#include "sweep/sweep.h"
#include "testing/temp_dir.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kToken = "00112233445566778899aabbccddeeff";

/// A site over a folder, and a visitor who has the cookie.
class Served {
 public:
  explicit Served(const std::vector<fs::path>& roots, TimelineView timeline = {})
      : site_(*catalog::Catalog::open(roots), {.token = kToken, .cookie_name = "profline-1"},
              interrupt_, std::move(timeline)) {}

  Response get(std::string_view address) {
    const Visitor visitor{.host = "127.0.0.1:1", .cookies = "profline-1=" + kToken};
    Response response = site_.respond(visitor, address);
    // The runs are read by a thread of their own; a browser asks again as well.
    while (response.body.find("being read for the first time") != std::string::npos) {
      response = site_.respond(visitor, address);
    }
    return response;
  }
  Site& site() { return site_; }

 private:
  Interrupt interrupt_;
  Site site_;
};

std::string header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

std::string content_of(Response response) {
  if (!response.file) return response.body;
  std::string bytes(response.file->size, '\0');
  const ssize_t count = ::pread(response.file->file.get(), bytes.data(), bytes.size(), 0);
  EXPECT_EQ(count, static_cast<ssize_t>(bytes.size()));
  return bytes;
}

/// A run of the series `nightly` with this time per token.
void write_nightly(const fs::path& root, int day, double token_ms, const std::string& commit) {
  const fs::path folder = root / fmt::format("run-{:03}", day);
  run_index::TestRun{.experiment = "nightly", .device = "cuda:0", .token_ms = token_ms}.write(
      folder);
  auto record = parse_json(*read_file(folder / "run.json"), "run.json");
  ASSERT_TRUE(record);
  record->as_map().set("commit", Node::string(commit));
  record->as_map().set("started", Node::string(fmt::format("2026-{:02}-{:02}T10:00:00.000Z",
                                                           1 + day / 28, 1 + day % 28)));
  ASSERT_TRUE(write_file_atomic(folder / "run.json", *write_json(*record)));
}

TEST(ASite, LetsNobodyInWithoutTheToken) {
  const testing::TempDir folder;
  Served served({folder.path()});
  Site& site = served.site();
  for (const char* address :
       {"/", "/runs/x/files/y", "/assets/serve.css", "/nothing", "/%", "/?token=wrong"}) {
    const Response refused = site.respond({.host = "localhost"}, address);
    EXPECT_EQ(refused.status, 401) << address;
    EXPECT_THAT(refused.body, HasSubstr("Open the address that &#39;profline serve&#39; printed"));
    EXPECT_EQ(site.respond({.host = "evil.example"}, address).status, 403) << address;
  }
  const Response post = site.respond({.method = "POST", .host = "localhost"}, "/?token=" + kToken);
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(header(post, "Allow"), "GET, HEAD");
}

TEST(ASite, TurnsTheTokenOfTheAddressIntoACookie) {
  const testing::TempDir folder;
  Served served({folder.path()});
  const Response welcome =
      served.site().respond({.host = "localhost"}, "/trends?last=9&token=" + kToken);
  EXPECT_EQ(welcome.status, 200);
  EXPECT_EQ(header(welcome, "Set-Cookie"),
            "profline-1=" + kToken + "; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_THAT(welcome.body,
              AllOf(HasSubstr("content=\"0; url=/trends?last=9\""), Not(HasSubstr(kToken))));
}

TEST(ASite, ListsRunsAndFiltersThem) {
  const testing::TempDir folder;
  run_index::TestRun{.experiment = "first", .second = 1}.write(folder.path() / "r1");
  run_index::TestRun{.experiment = "second", .device = "cuda:0", .second = 2, .token_ms = 9}.write(
      folder.path() / "r2");
  run_index::TestRun{
      .experiment = "second", .device = "cuda:0", .state = RunState::Failed, .second = 3}
      .write(folder.path() / "r3");
  Served served({folder.path()});
  const std::string all = served.get("/").body;
  EXPECT_THAT(all, HasSubstr("<p class=\"lead\" role=\"status\">3 runs</p>"));
  EXPECT_LT(all.find("/runs/r3/"), all.find("/runs/r1/")) << "newest first";
  const auto rows = [&](const std::string& address) {
    std::string names;
    const std::string body = served.get(address).body;
    for (const char* name : {"r1", "r2", "r3"}) {
      if (body.find(fmt::format("href=\"/runs/{}/\"", name)) != std::string::npos) names += name;
    }
    return names;
  };
  EXPECT_EQ(rows("/?experiment=second"), "r2r3");
  EXPECT_EQ(rows("/?state=failed"), "r3");
  EXPECT_EQ(rows("/?q=SECOND+r2"), "r2");
  EXPECT_EQ(rows("/?where=token_ms%3E5"), "r2");
  EXPECT_EQ(rows("/?since=2026-11-16"), "");
  EXPECT_EQ(rows("/?device=NVIDIA+H200&state=ok"), "r2");
  const std::string sorted = served.get("/?sort=-token_ms").body;
  EXPECT_LT(sorted.find("/runs/r2/"), sorted.find("/runs/r1/"));
  const Response wrong = served.get("/?where=%3C%3C");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(served.get("/?since=tomorrow").status, 400);
}

TEST(ASite, ShowsAHundredRunsAtATime) {
  const testing::TempDir folder;
  for (int day = 0; day < 120; ++day) write_nightly(folder.path(), day, 2, "c");
  Served served({folder.path()});
  const std::string first = served.get("/").body;
  EXPECT_THAT(first, AllOf(HasSubstr("page 1 of 2"), HasSubstr("/runs/run-119/"),
                           Not(HasSubstr("/runs/run-019/"))));
  EXPECT_THAT(first, HasSubstr("<svg class=\"spark\""));
  EXPECT_THAT(served.get("/?page=2").body,
              AllOf(HasSubstr("/runs/run-019/"), Not(HasSubstr("/runs/run-119/"))));
  EXPECT_THAT(served.get("/?page=99").body, HasSubstr("page 2 of 2"));
}

TEST(ASite, NoticesNewRuns) {
  const testing::TempDir folder;
  Served served({folder.path()});
  EXPECT_THAT(served.get("/").body, HasSubstr("There are no runs below"));
  run_index::TestRun{}.write(folder.path() / "later");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (served.get("/").body.find("/runs/later/") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the run is never listed";
  }
  EXPECT_THAT(served.get("/").body, HasSubstr("1 run</p>"));
}

TEST(ASite, TellsRunsOfSeveralRootsApart) {
  const testing::TempDir folder;
  run_index::TestRun{.experiment = "left"}.write(folder.path() / "a/same");
  run_index::TestRun{.experiment = "right"}.write(folder.path() / "b/same");
  Served served({folder.path() / "a", folder.path() / "b"});
  EXPECT_THAT(served.get("/").body,
              AllOf(HasSubstr("/runs/1%3Asame/"), HasSubstr("/runs/2%3Asame/")));
  EXPECT_THAT(served.get("/runs/2%3Asame/").body, HasSubstr("right"));
  EXPECT_EQ(served.get("/runs/same/").status, 404);
}

TEST(ASite, TreatsNamesAsText) {
  const testing::TempDir folder;
  const std::string evil = "\"><script>alert(1)</script>";
  run_index::TestRun{.experiment = evil, .model = "<img src=x onerror=alert(1)>"}.write(
      folder.path() / "<b>&'x");
  // The config is JSON, in which quotes have to be escaped.
  ASSERT_TRUE(
      write_file_atomic(folder.path() / "<b>&'x/config.resolved.json",
                        R"({"model":{"name":"<img src=x onerror=alert(1)>"},"device":"cpu"})"));
  ASSERT_TRUE(write_file_atomic(folder.path() / "<b>&'x/<script>alert(2)<.txt", "x"));
  Served served({folder.path()});
  for (const std::string address :
       {"/", "/?q=%3Cscript%3E", "/trends", "/trends?metric=%3Cscript%3E",
        "/compare?a=%3Cscript%3E", "/runs/%3Cb%3E%26%27x/", "/runs/%3Cb%3E%26%27x/files",
        "/runs/%3Cscript%3E/", "/sweeps/%3Cscript%3E/"}) {
    const Response page = served.get(address);
    EXPECT_THAT(page.body,
                AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("<img")), Not(HasSubstr("<b>"))))
        << address;
    EXPECT_THAT(page.policy, StartsWith("default-src 'none'; script-src 'self'; style-src 'self';"))
        << address;
    EXPECT_THAT(page.body, Not(HasSubstr(" style=")))
        << address << ": the policy forbids inline styles";
  }
}

TEST(ASite, SendsFilesOfARunAndNothingElse) {
  const testing::TempDir folder;
  const fs::path run = folder.path() / "root/r";
  run_index::TestRun{}.write(run);
  ASSERT_TRUE(write_file_atomic(folder.path() / "secret", "secret"));
  ASSERT_TRUE(write_file_atomic(folder.path() / "root/beside", "beside"));
  ASSERT_TRUE(write_file_atomic(run / "page.html", "<script>alert(1)</script>"));
  Served served({folder.path() / "root"});
  EXPECT_THAT(served.get("/").body, HasSubstr("/runs/r/"));
  fs::create_symlink(folder.path() / "secret", run / "link");
  fs::create_symlink(folder.path(), run / "folder");
  fs::create_symlink("run.json", run / "inner");
  EXPECT_EQ(content_of(served.get("/runs/r/files/run.json")), *read_file(run / "run.json"));
  const Response text = served.get("/runs/r/files/run.json");
  EXPECT_EQ(text.type, "text/plain; charset=utf-8");
  EXPECT_EQ(header(text, "Content-Disposition"), "inline; filename*=UTF-8''run.json");
  EXPECT_EQ(text.policy, "default-src 'none'; sandbox");
  // Somebody else's page is never shown as one of ours.
  const Response page = served.get("/runs/r/files/page.html");
  EXPECT_EQ(page.type, "application/octet-stream");
  EXPECT_EQ(header(page, "Content-Disposition"), "attachment; filename*=UTF-8''page.html");
  for (const char* address :
       {"/runs/r/files/link", "/runs/r/files/folder/secret", "/runs/r/files/inner",
        "/runs/r/files/baseline", "/runs/r/files/none", "/runs/r/files/run.json/x",
        "/runs/root/files/beside", "/runs/other/files/run.json"}) {
    const Response refused = served.get(address);
    EXPECT_EQ(refused.status, 404) << address;
    EXPECT_FALSE(refused.file) << address;
  }
  EXPECT_EQ(served.get("/runs/r/files/%2e%2e/beside").status, 400);
  EXPECT_EQ(header(served.get("/runs/r/baseline/requests.jsonl"), "Location"),
            "/runs/r/files/baseline/requests.jsonl");
  // A page about a run that leads elsewhere is refused as a whole.
  EXPECT_THAT(served.get("/runs/r/").body, HasSubstr("is a link that leads out of"));
}

TEST(ASite, ShowsTheCapturesOfARunWithThousandsOfFiles) {
  const testing::TempDir folder;
  const fs::path run = folder.path() / "r";
  run_index::TestRun{}.write(run);
  for (const char* below : {"a", "nsys", "z"}) fs::create_directories(run / below);
  for (int i = 0; i < 2500; ++i) {
    std::ofstream(run / fmt::format("{}/{:04}.txt", i % 2 == 0 ? "a" : "z", i)) << i;
  }
  ASSERT_TRUE(write_file_atomic(run / "nsys/report.sqlite", "x"));
  const TimelineView view{
      .page =
          [](const catalog::KnownRun& known, const Target&) {
            Response response;
            for (const FoundFile& file : files_below(known.folder, 1, is_capture)) {
              response.body += file.path;
            }
            return response;
          },
      .tiles = {}};
  Served served({folder.path()}, view);
  EXPECT_EQ(served.get("/runs/r/timeline").body, "nsys/report.sqlite");
  const std::string page = served.get("/runs/r/files").body;
  EXPECT_THAT(page, AllOf(HasSubstr("nsys/report.sqlite"), HasSubstr("2000 files, "),
                          HasSubstr("; there are more.")));
}

TEST(ASite, DoesNotWaitForPipes) {
  const testing::TempDir folder;
  run_index::TestRun{}.write(folder.path() / "r");
  run_index::TestRun{}.write(folder.path() / "other");
  fs::remove(folder.path() / "other/baseline/requests.jsonl");
  ASSERT_EQ(::mkfifo((folder.path() / "other/baseline/requests.jsonl").c_str(), 0600), 0);
  Served served({folder.path()});
  EXPECT_THAT(served.get("/").body, AllOf(HasSubstr("/runs/r/"), Not(HasSubstr("/runs/other/")),
                                          HasSubstr("The run other is left out: ")));
  ASSERT_EQ(::mkfifo((folder.path() / "r/pipe").c_str(), 0600), 0);
  EXPECT_EQ(served.get("/runs/r/files/pipe").status, 404);
}

TEST(ASite, ShowsTheStagesOfARunWithoutAReport) {
  const testing::TempDir folder;
  run_index::TestRun{.state = RunState::Failed}.write(folder.path() / "r");
  auto record = parse_json(*read_file(folder.path() / "r/run.json"), "run.json");
  ASSERT_TRUE(record);
  record->as_map().set(
      "stages",
      *parse_json(R"([{"name":"nsys","state":"failed","started":"2026-11-15T10:00:00.000Z",
    "ended":"2026-11-15T10:01:05.000Z",
    "findings":[{"severity":"problem","code":"empty","text":"the capture <is> empty","fix":"open the range"}]}])",
                  "stages"));
  ASSERT_TRUE(write_file_atomic(folder.path() / "r/run.json", *write_json(*record)));
  Served served({folder.path()});
  const std::string page = served.get("/runs/r/").body;
  EXPECT_THAT(page, AllOf(HasSubstr("the capture &lt;is&gt; empty"), HasSubstr("open the range"),
                          HasSubstr("1 min 05 s"), HasSubstr("This run has no summary"),
                          Not(HasSubstr("data-refresh"))));
}

TEST(ASite, FollowsARunThatIsGoingOn) {
  const testing::TempDir folder;
  const fs::path run = folder.path() / "r";
  run_index::TestRun{.state = RunState::Running}.write(run);
  auto record = parse_json(*read_file(run / "run.json"), "run.json");
  ASSERT_TRUE(record);
  record->as_map().set(
      "stages",
      *parse_json(
          R"([{"name":"baseline","state":"ok","started":"2026-11-15T10:00:00.000Z","ended":"2026-11-15T10:00:09.000Z"},
    {"name":"nsys","state":"running","started":"2026-11-15T10:00:09.000Z","commands":[{"name":"nsys","log":"nsys/log"}]}])",
          "stages"));
  ASSERT_TRUE(write_file_atomic(run / "run.json", *write_json(*record)));
  ASSERT_TRUE(create_folders(run / "nsys"));
  ASSERT_TRUE(write_file_atomic(run / "nsys/log", "Collecting <data>\nStep 3 of 8\n"));
  // A run holds the lock of its folder as long as it runs.
  const FileDescriptor lock = open_descriptor(run.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  Served served({folder.path()});
  EXPECT_THAT(served.get("/").body, HasSubstr("1 run, 1 running"));
  const std::string page = served.get("/runs/r/").body;
  EXPECT_THAT(
      page, AllOf(HasSubstr("data-refresh=\"2\""), HasSubstr("aria-current=\"step\""),
                  HasSubstr("Output of nsys"), HasSubstr("Collecting &lt;data&gt;\nStep 3 of 8\n"),
                  HasSubstr("running for"), HasSubstr("9.0 s")));
}

TEST(ASite, ShowsAPlantedStepWithItsCommit) {
  const testing::TempDir folder;
  statistics::RandomNumbers random(3);
  const auto noise = [&] {
    return (static_cast<double>(random.below(2001)) - 1000) / 1000 * 0.004;
  };
  for (int day = 0; day < 40; ++day) {
    write_nightly(folder.path(), day, (day < 25 ? 5.0 : 5.15) * (1 + noise()),
                  fmt::format("commit{:02}", day));
  }
  Served served({folder.path()});
  const std::string page = served.get("/trends?metric=token_ms").body;
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("class=\"change slower\""), HasSubstr("commit commit25 after commit24"),
            HasSubstr("/compare?a=run-024&amp;b=run-025"), Not(HasSubstr("class=\"faster\""))));
}

TEST(ASite, ShowsATrendForEachConfiguration) {
  const testing::TempDir folder;
  for (int day = 0; day < 20; ++day) {
    write_nightly(folder.path(), day, (day < 10 ? 2.0 : 4.0) * (1 + 0.001 * (day % 3)), "c0ffee");
    const std::string config = fmt::format(
        R"({{"model":{{"name":"tiny"}},"device":"cuda:0","infer":{{"max_new_tokens":{}}}}})",
        day < 10 ? 64 : 128);
    ASSERT_TRUE(write_file_atomic(
        folder.path() / fmt::format("run-{:03}/config.resolved.json", day), config));
  }
  Served served({folder.path()});
  const std::string page = served.get("/trends?metric=token_ms").body;
  EXPECT_THAT(
      page,
      AllOf(Not(HasSubstr("SLOWER")), HasSubstr("series-2"),
            HasSubstr("10 runs differ only in their configurations and are not in this series.")));
}

TEST(ASite, RaisesNoAlarmInTwoHundredSeriesWithoutAChange) {
  std::vector<catalog::KnownRun> runs;
  statistics::RandomNumbers random(5);
  for (int series = 0; series < 200; ++series) {
    for (int i = 0; i < 40; ++i) {
      catalog::KnownRun run{.root = "/runs", .folder = {}, .row = {}};
      run.row.folder = fmt::format("s{}-{}", series, i);
      run.folder = run.root / run.row.folder;
      run.row.experiment = fmt::format("s{}", series);
      run.row.state = "ok";
      run.row.device = "cuda:0";
      run.row.started = fmt::format("2026-11-01T{:02}:{:02}:00.000Z", i / 60, i % 60);
      // The sum of several uniform numbers is nearly normal; runs differ by about 1 %.
      double noise = 0;
      for (int k = 0; k < 12; ++k) noise += static_cast<double>(random.below(1000)) / 1000 - 0.5;
      run.row.metrics = {{"token_ms", "ms", 5 * (1 + noise * 0.01), 8}};
      runs.push_back(run);
    }
  }
  std::reverse(runs.begin(), runs.end());  // newest first
  const Snapshot snapshot = snapshot_of(runs, {"/runs"});
  ASSERT_EQ(snapshot.series.size(), 200U);
  int alarms = 0;
  for (const auto& series : snapshot.series) {
    std::vector<run_index::IndexedRun> rows;
    for (const std::size_t index : series) rows.push_back(snapshot.runs[index].known.row);
    const auto history =
        catalog::history_of("/runs", rows.front(), rows, {.most = 59, .metrics = {"token_ms"}});
    ASSERT_TRUE(history);
    alarms += history->metrics.front().changes.empty() ? 0 : 1;
  }
  EXPECT_EQ(alarms, 0);
}

TEST(ASite, ComparesGroupsOfRuns) {
  const testing::TempDir folder;
  for (int day = 0; day < 8; ++day)
    write_nightly(folder.path(), day, day < 4 ? 5.0 + 0.001 * day : 6.0 + 0.001 * day, "c");
  Served served({folder.path()});
  const std::string page =
      served.get("/compare?a=run-000&a=run-001&a=run-002&b=run-004&b=run-005&b=run-006&b=").body;
  EXPECT_THAT(page, AllOf(HasSubstr("token_ms"), HasSubstr("5.00 ms"), HasSubstr("6.00 ms"),
                          HasSubstr("+20."), HasSubstr("aria-label=\"remove run-001 from A\"")));
  EXPECT_THAT(page, HasSubstr("/compare?b=run-000"));  // Swap A and B
  EXPECT_THAT(served.get("/compare").body, HasSubstr("Choose a run for each side"));
  EXPECT_THAT(served.get("/compare?a=run-000").body, HasSubstr("Choose a run for each side"));
  EXPECT_EQ(served.get("/compare?a=run-000&b=none").status, 404);
}

TEST(ASite, WritesNothing) {
  const testing::TempDir folder;
  for (int day = 0; day < 3; ++day) write_nightly(folder.path(), day, 5, "c");
  const auto files = [&] {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      all.push_back(entry.path().string() +
                    std::to_string(entry.last_write_time().time_since_epoch().count()));
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto before = files();
  Served served({folder.path()});
  for (const char* address : {"/", "/trends", "/compare?a=run-000&b=run-001", "/sweeps",
                              "/runs/run-000/", "/runs/run-000/files"}) {
    EXPECT_EQ(served.get(address).status, 200) << address;
  }
  EXPECT_EQ(files(), before);
}

TEST(ASite, ShowsSweepsAndLeadsToTheirJobs) {
  const testing::TempDir folder;
  const fs::path sweep = folder.path() / "night 1";
  run_index::TestRun{.experiment = "swept"}.write(sweep / "0");
  sweep::Sweep record;
  record.started = "2026-11-15T10:00:00.000Z";
  record.submissions.push_back({.number = 1, .jobs = {0}});
  record.jobs.push_back({.number = 0, .folder = "0", .overrides = {"infer.batch_size=4"}});
  ASSERT_TRUE(write_file_atomic(sweep / run::files::kSweep, *to_document(record)));
  Served served({folder.path()});
  EXPECT_THAT(served.get("/sweeps").body,
              AllOf(HasSubstr("/sweeps/night%201/"), HasSubstr("1 sweep</p>")));
  const Response page = served.get("/sweeps/night%201/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("sweep night 1"), HasSubstr("href=\"/sweeps\"")));
  EXPECT_EQ(header(served.get("/sweeps/night%201/0/report.html"), "Location"),
            "/runs/night%201%2F0/");
  EXPECT_THAT(served.get("/runs/night%201%2F0/").body, HasSubstr("swept"));
  EXPECT_EQ(served.get("/sweeps/none/").status, 404);
}

TEST(ASite, LeavesTimelinesToTheirView) {
  const testing::TempDir folder;
  run_index::TestRun{}.write(folder.path() / "r");
  Served without({folder.path()});
  EXPECT_EQ(without.get("/runs/r/timeline").status, 404);
  const auto answer = [](const char* kind) {
    return [kind](const catalog::KnownRun& run, const Target& target) {
      Response response;
      response.body = std::string(kind) + " " + run.row.folder + " " + target.path;
      return response;
    };
  };
  Served with({folder.path()}, {answer("page"), answer("tiles")});
  EXPECT_EQ(with.get("/runs/r/timeline").body, "page r ");
  EXPECT_EQ(with.get("/api/runs/r/tiles/3/17").body, "tiles r 3/17");
  EXPECT_EQ(with.get("/api/runs/none/tiles/3/17").status, 404);
}

}  // namespace
}  // namespace profline::serve
