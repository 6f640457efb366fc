#include <gtest/gtest.h>

#include "schema/read.h"
#include "settings/dataset.h"
#include "settings/hardware.h"
#include "settings/nsight.h"
#include "settings/pipeline.h"
#include "settings/stage.h"

namespace profline::settings {
namespace {

TEST(Device, IsReadAndWrittenInItsFourSpellings) {
  for (const std::string text : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"}) {
    SCOPED_TRACE(text);
    const auto device = parse_device(text);
    ASSERT_TRUE(device);
    EXPECT_EQ(device->to_string(), text);
  }
  EXPECT_EQ(parse_device("cuda:12")->index, std::uint16_t{12});
  EXPECT_EQ(parse_device("cuda")->index, std::nullopt);
  for (const char* text : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:70000",
                           "cpu:0", "auto:0"}) {
    EXPECT_FALSE(parse_device(text)) << text;
  }
}

TEST(CaptureRangeEnd, IsWhatNsysTakes) {
  for (const std::string text :
       {"none", "stop", "stop-shutdown", "repeat", "repeat:1", "repeat:20", "repeat-shutdown:2"}) {
    SCOPED_TRACE(text);
    const auto end = parse_capture_range_end(text);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->to_string(), text);
  }
  for (const char* text :
       {"", "Stop", "repeat:", "repeat:0", "repeat:x", "repeat:-1", "repeat:2:3", "repeat:1000001",
        "repeat-shutdown", "repeat-shutdown:0", "stop:2", "none:1"}) {
    EXPECT_FALSE(parse_capture_range_end(text)) << text;
  }
}

TEST(PageSize, IsTwoNumbersAboveZero) {
  const auto size = schema::read<PageSize>(Node::string("612x792"));
  ASSERT_TRUE(size) << size.error().to_string();
  EXPECT_EQ(*size, (PageSize{612, 792}));
  EXPECT_EQ(schema::write(*size), Node::string("612x792"));
  for (const char* text : {"", "612", "612x", "x792", "0x792", "612x0", "612X792", "1x2x3"}) {
    const auto wrong = schema::read<PageSize>(Node::string(text));
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().to_string(),
              "must be a size such as 612x792, not '" + std::string(text) + "'");
  }
}

TEST(Dataset, KnowsItsNameAndSamplingWhereverImagesComeFrom) {
  Dataset dataset;
  EXPECT_EQ(dataset.name(), "OmniDocBench");
  SyntheticPages pages;
  pages.sampling.num_epochs = 3;
  dataset.images = pages;
  EXPECT_EQ(dataset.name(), "synthetic");
  EXPECT_EQ(dataset.sampling().num_epochs, 3U);
}

TEST(Output, HasFoldersOfItsOwnWhereNoneAreNamed) {
  Output output;
  output.prediction.save_dir = "texts";
  output.visualization.save_dir.reset();
  EXPECT_EQ(output.prediction_dir(), "texts");
  EXPECT_EQ(output.visualization_dir(), "viz");
  output.prediction.save_dir.reset();
  EXPECT_EQ(output.prediction_dir(), "pred");
}

TEST(Workload, IsTheBuiltInOneUnlessAProgramIsNamed) {
  using Argv = std::vector<std::string>;
  Workload workload;
  EXPECT_EQ(workload.user_command(), std::nullopt);
  workload.module = "  ";
  EXPECT_EQ(workload.user_command(), std::nullopt);
  workload.module = "my.server";
  EXPECT_EQ(workload.user_command(), (Argv{"python3", "-m", "my.server"}));
  workload.module.reset();
  workload.command = Argv{"./serve", "--port", "1"};
  EXPECT_EQ(workload.user_command(), workload.command);
}

TEST(ProgramName, IsWhatPeopleCallIt) {
  struct Case {
    std::vector<std::string> command;
    std::string_view name;
  };
  const Case cases[] = {
      {{"/opt/bin/serve", "--port", "1"}, "serve"},
      {{"python3", "-u", "-X", "dev", "src/train.py", "x"}, "train.py"},
      {{"/usr/bin/python3.11", "-m", "pkg.train"}, "pkg.train"},
      {{"python3", "-c", "print(1)"}, "python3 -c"},
      {{"bash", "run.sh"}, "run.sh"},
      {{"env", "A=1", "taskset", "-c", "4,5", "python3", "infer.py"}, "infer.py"},
      {{"torchrun", "--nproc_per_node", "2", "train.py"}, "train.py"},
      {{"python3"}, "python3"},
      {{"folder/"}, "folder/"},
      {{}, ""},
  };
  for (const Case& c : cases) EXPECT_EQ(program_name(c.command), c.name);
}

TEST(Load, HasOneOfSeveralAlternatives) {
  Load load;
  EXPECT_EQ(load.arrival.in_flight(), 8U);
  EXPECT_FALSE(load.arrival.is_open());
  EXPECT_TRUE(validate(load).failures().empty());
  load.arrival.rate = 4;
  EXPECT_TRUE(load.arrival.is_open());
  EXPECT_TRUE(validate(load.arrival).failures().empty()) << "the default gives way";
  load.arrival.concurrency = 2;
  EXPECT_EQ(validate(load.arrival).failures().size(), 1U);
  EXPECT_EQ(validate(LoadMeasure{10, 2.5}).failures().size(), 1U);
  EXPECT_EQ(validate(LoadPrompts{512, {}, "prompts.jsonl"}).failures().size(), 1U);
  EXPECT_TRUE(validate(LoadPrompts{{}, 16, "prompts.jsonl"}).failures().empty());
}

TEST(Load, RefusesWhatItCannotSend) {
  struct Case {
    std::string_view name;
    void (*spoil)(Load& load);
    std::string_view message;
  };
  constexpr Case kCases[] = {
      {"endpoint", [](Load& load) { load.endpoint = "v1/completions"; },
       "must be a path such as /v1/completions or /v1/chat/completions"},
      {"body", [](Load& load) { load.extra_body = Node::integer(1); }, "must be a map"},
      {"search", [](Load& load) { load.search = true; }, "needs slo.ttft_ms or slo.tpot_ms"},
      {"header", [](Load& load) { load.headers["a"] = "b\r\nc: d"; },
       "must have names and single-line values"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Load load;
    c.spoil(load);
    const Checks checks = validate(load);
    ASSERT_EQ(checks.failures().size(), 1U);
    EXPECT_EQ(checks.failures()[0].message, c.message);
  }
  Server server;
  server.url = "ftp://host";
  EXPECT_EQ(validate(server).failures().size(), 1U);
  server.url = "https://host:8000";
  EXPECT_TRUE(validate(server).failures().empty());
}

}  // namespace
}  // namespace profline::settings
