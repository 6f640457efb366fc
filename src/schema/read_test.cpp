#include "schema/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/internal/example_for_tests.h"

namespace profline::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::list;
using testing::Tree;
using testing::yaml;

std::vector<std::string> texts(const std::vector<Error>& errors) {
  std::vector<std::string> out;
  out.reserve(errors.size());
  for (const Error& error : errors) out.push_back(error.to_string());
  return out;
}

template <typename T>
std::vector<std::string> problems_of(const Node& node, std::string_view path = {}) {
  Problems problems;
  read<T>(node, problems, path);
  return texts(problems.errors());
}

Tree small_config(Tree pipeline) {
  return Tree{{"infer", Tree{{"max_new_tokens", 8}}}, {"pipeline", std::move(pipeline)}};
}

TEST(ReadStruct, KeepsTheDefaultsOfWhatIsNotGiven) {
  const auto nsys = read<example::Nsys>(yaml(Tree{{"capture_range", "hotkey"}, {"timeout", 90}}));
  ASSERT_TRUE(nsys) << nsys.error().to_string();
  example::Nsys expected;
  expected.capture_range = example::CaptureRange::Hotkey;
  expected.timeout = std::chrono::seconds(90);
  EXPECT_EQ(*nsys, expected);
}

TEST(ReadStruct, ReadsAWholeConfig) {
  const auto config = read<example::Config>(yaml(Tree{
      {"experiment", "night"},
      {"infer", Tree{{"max_new_tokens", 256}, {"temperature", 1}, {"top_p", 0.9}}},
      {"pipeline",
       Tree{{"torch_profiler",
             Tree{{"enable", "auto"},
                  {"activities", list({"cuda"})},
                  {"extra", Tree{{"deepseek_ocr", Tree{{"max_images", 3}, {"save_dir", "p/q"}}},
                                 {"dummy", Tree(Node::map())}}}}},
            {"nsys", Tree{{"enable", true}, {"trace", "cuda, nvtx"}, {"samples", nullptr}}},
            {"ncu", Tree{{"ncu_cli", Tree{{"nvtx", Tree{{"include", "A;A::A1"}}},
                                          {"metrics", list({"m1", "m2"})}}}}}}},
      {"vars", Tree{{"anything", list({1, nullptr})}}},
  }));
  ASSERT_TRUE(config) << config.error().to_string();
  example::Config expected;
  expected.experiment = "night";
  expected.infer.max_new_tokens = 256;
  expected.infer.temperature = 1.0;
  expected.infer.top_p = 0.9;
  auto& torch = expected.pipeline.torch_profiler;
  torch.enable = example::Enable::Auto;
  torch.activities = {example::Activity::Cuda};
  torch.extra["deepseek_ocr"] = {.max_images = 3, .save_dir = "p/q"};
  torch.extra["dummy"] = {};
  expected.pipeline.nsys.enable = example::Enable::Yes;
  expected.pipeline.nsys.trace.items = {"cuda", "nvtx"};
  expected.pipeline.nsys.samples.reset();
  expected.pipeline.ncu.ncu_cli.nvtx.include = SemicolonList{{"A", "A::A1"}};
  expected.pipeline.ncu.ncu_cli.metrics = CommaList{{"m1", "m2"}};
  expected.vars = Tree{{"anything", list({1, nullptr})}}.node();
  EXPECT_EQ(*config, expected);
  const auto again = read<example::Config>(write(*config));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, expected);
}

TEST(ReadStruct, ListsEveryProblemInTheOrderOfTheDocument) {
  const Node node = yaml(Tree{
      {"experiment", 5},                                                     // line 1
      {"image_size", 32},                                                    // line 2
      {"infer", Tree{{"temperature", -1}, {"top_p", 1.5}}},                  // lines 3-5
      {"pipeline",                                                           // line 6
       Tree{{"nsys", Tree{{"enable", "maybe"},                               // lines 7, 8
                          {"timout", 5},                                     // line 9
                          {"samples", 0},                                    // line 10
                          {"trace", "cuda,,nvtx"}}},                         // line 11
            {"ncu", Tree{{"ncu_cli", Tree{{"sections", list({"a", 2})}}}}},  // lines 12-16
            {"torch_profiler",                                               // line 17
             Tree{{"activities", list({"cpu", "gpu", "coda"})},              // lines 18-21
                  {"extra", Tree{{"m", Tree{{"max_images", 1000}}}}}}}}},    // lines 22-24
      {"run", Tree{{"mode", "x"}}},                                          // lines 25, 26
  });
  EXPECT_THAT(
      problems_of<example::Config>(node),
      ElementsAre(
          "a.yaml:1:13: experiment: must be a string, not the integer 5",
          "a.yaml:2:13: image_size: must be an integer from 64 to 4096, not 32",
          "a.yaml:4:3: infer: missing key 'max_new_tokens' (an integer > 0)",
          "a.yaml:4:16: infer.temperature: must be a number >= 0, not -1",
          "a.yaml:5:10: infer.top_p: must be a number > 0 and <= 1 or null, not 1.5",
          "a.yaml:8:13: pipeline.nsys.enable: must be one of true, false, auto, not 'maybe'",
          "a.yaml:9:5: pipeline.nsys: unknown key 'timout' (did you mean 'timeout'?)",
          "a.yaml:10:14: pipeline.nsys.samples: must be an integer >= 1 or null, not 0",
          "a.yaml:11:12: pipeline.nsys.trace: has an empty item: 'cuda,,nvtx'",
          "a.yaml:16:11: pipeline.ncu.ncu_cli.sections.1: must be a string, not the integer 2",
          "a.yaml:20:9: pipeline.torch_profiler.activities.1: must be one of cpu, cuda, not 'gpu'"
          " (did you mean 'cpu'?)",
          "a.yaml:21:9: pipeline.torch_profiler.activities.2: must be one of cpu, cuda, not 'coda'"
          " (did you mean 'cuda'?)",
          "a.yaml:24:21: pipeline.torch_profiler.extra.m.max_images: must be an integer from 1 to "
          "512, not 1000",
          "a.yaml:25:1: key 'run' was removed: use pipeline.<stage>.enable"));
}

TEST(ReadStruct, TellsThemAsOneErrorOfKindConfig) {
  const auto nsys = read<example::Nsys>(yaml(Tree{{"enable", 1}, {"traces", "x"}}));
  ASSERT_FALSE(nsys);
  EXPECT_EQ(nsys.error().kind(), ErrorKind::Config);
  EXPECT_EQ(nsys.error().each().size(), 2U);
  EXPECT_EQ(nsys.error().position(), (Position{"a.yaml", 1, 9}));
  EXPECT_EQ(nsys.error().to_string(),
            "a.yaml:1:9: enable: must be one of true, false, auto, not the integer 1\n"
            "a.yaml:2:1: unknown key 'traces' (did you mean 'trace'?)");
}

TEST(ReadStruct, PrefixesThePathItIsGiven) {
  EXPECT_THAT(problems_of<example::Nsys>(yaml(Tree{{"timout", 1}, {"timeout", "x"}}), "p.nsys"),
              ElementsAre("a.yaml:1:1: p.nsys: unknown key 'timout' (did you mean 'timeout'?)",
                          "a.yaml:2:10: p.nsys.timeout: must be a whole number of seconds >= 1 or "
                          "null, not the string 'x'"));
}

TEST(ReadStruct, NamesTheFewKnownKeysWhenNoneIsNear) {
  EXPECT_THAT(problems_of<example::NcuNvtx>(yaml(Tree{{"range", "x"}})),
              ElementsAre("a.yaml:1:1: unknown key 'range' (known keys: include)"));
}

TEST(ReadStruct, WantsAMapWithStringKeys) {
  EXPECT_THAT(problems_of<example::Nsys>(yaml(list({1}))),
              ElementsAre("a.yaml:1:1: must be a map, not a list"));
  EXPECT_THAT(problems_of<example::Config>(yaml(small_config(nullptr))),
              ElementsAre("a.yaml:3:11: pipeline: must be a map, not null"));
  EXPECT_THAT(problems_of<example::NcuNvtx>(yaml(Tree{{true, 1}})),
              ElementsAre("a.yaml:1:1: a key must be a string, not the boolean true"));
}

TEST(ReadStruct, TellsOfRequiredKeysInSectionsThatAreAbsent) {
  EXPECT_THAT(problems_of<example::Config>(yaml(Tree{{"experiment", "x"}})),
              ElementsAre("a.yaml:1:1: infer: missing key 'max_new_tokens' (an integer > 0)"));
}

TEST(ReadStruct, HasNoPlaceForNodesMadeByCode) {
  EXPECT_THAT(problems_of<example::Nsys>(Tree{{"samples", 0}, {"sample", 1}}.node()),
              ElementsAre("samples: must be an integer >= 1 or null, not 0",
                          "unknown key 'sample' (did you mean 'samples'?)"));
  Problems problems;
  read<example::Nsys>(Tree{{"samples", 0}}.node(), problems);
  EXPECT_EQ(problems.errors().at(0).position(), std::nullopt);
}

TEST(ReadStruct, PlacesAnUnknownKeyThatCodeSetAtItsValue) {
  Node value = Node::integer(5);
  value.set_mark({std::make_shared<const std::string>("override 3"), 0, 0});
  Node node = yaml(Tree{{"timeout", 5}});
  node.as_map().set("timout", value);
  EXPECT_THAT(problems_of<example::Nsys>(node),
              ElementsAre("override 3: unknown key 'timout' (did you mean 'timeout'?)"));
}

TEST(ReadStruct, WarnsOfDeprecatedKeysAndStillReadsThem) {
  Problems problems;
  const auto torch =
      read<example::TorchProfiler>(yaml(Tree{{"enabled", false}}), problems, "pipeline.torch");
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(torch.enabled, example::Enable::No);
  EXPECT_THAT(texts(problems.warnings()),
              ElementsAre("a.yaml:1:1: pipeline.torch: key 'enabled' is deprecated: use 'enable'"));
}

struct Timed {
  std::optional<std::chrono::seconds> timeout;
  bool operator==(const Timed&) const = default;
};
constexpr auto fields(std::type_identity<Timed>) {
  return field_list(field("timeout", &Timed::timeout, "end it after this long").at_least(1));
}
struct Probe : Timed {
  bool strict = false;
  bool operator==(const Probe&) const = default;
};
constexpr auto fields(std::type_identity<Probe>) {
  return fields(std::type_identity<Timed>{}) +
         field_list(field("strict", &Probe::strict, "fail when it is absent"));
}

TEST(ReadStruct, InheritsFields) {
  Probe expected;
  expected.timeout = std::chrono::seconds(3);
  expected.strict = true;
  const auto probe = read<Probe>(Tree{{"timeout", 3}, {"strict", true}}.node());
  ASSERT_TRUE(probe) << probe.error().to_string();
  EXPECT_EQ(*probe, expected);
  EXPECT_EQ(write(*probe), (Tree{{"timeout", 3}, {"strict", true}}.node()));
}

struct Nothing {};
constexpr auto fields(std::type_identity<Nothing>) {
  return field_list(removed("all", "there is nothing to set"));
}

TEST(ReadStruct, MayHaveNoFieldsAtAll) {
  EXPECT_EQ(write(Nothing{}), Node::map());
  EXPECT_THAT(problems_of<Nothing>(Node::map()), IsEmpty());
  EXPECT_THAT(problems_of<Nothing>(yaml(Tree{{"x", 1}, {"all", 2}})),
              ElementsAre("a.yaml:1:1: unknown key 'x'",
                          "a.yaml:2:1: key 'all' was removed: there is nothing to set"));
}

TEST(WriteStruct, LeavesOutDeprecatedKeysWithTheirDefault) {
  example::TorchProfiler torch;
  EXPECT_EQ(write(torch).as_map().string_keys(),
            (std::vector<std::string>{"enable", "activities", "extra"}));
  torch.enabled = example::Enable::No;
  EXPECT_EQ(write(torch).as_map().string_keys(),
            (std::vector<std::string>{"enable", "enabled", "activities", "extra"}));
}

TEST(WriteStruct, WritesAllFieldsInTheOrderOfTheList) {
  example::Nsys nsys;
  nsys.timeout = std::chrono::seconds(30);
  const Node expected = Tree{
      {"enable", false},
      {"trace", list({"cuda", "nvtx", "osrt"})},
      {"capture_range", "none"},
      {"nvtx_capture", list({"prefill"})},
      {"gating_nvtx", true},
      {"samples", 1},
      {"timeout", 30}}.node();
  EXPECT_EQ(write(nsys), expected);
}

TEST(Validate, PointsAtTheFieldAtFault) {
  const Node nsys =
      yaml(small_config(Tree{{"nsys", Tree{{"capture_range", "nvtx"}, {"nvtx_capture", " "}}}}));
  EXPECT_THAT(problems_of<example::Config>(nsys),
              ElementsAre("a.yaml:6:19: pipeline.nsys.nvtx_capture: must name a range when "
                          "capture_range is nvtx"));
}

TEST(Validate, PointsIntoNestedStructsInTheOrderOfTheDocument) {
  const Node ncu = yaml(small_config(
      Tree{{"ncu", Tree{{"ncu_cli", Tree{{"launch_count", 9}}}, {"max_launches", 5}}}}));
  EXPECT_THAT(problems_of<example::Config>(ncu),
              ElementsAre("a.yaml:5:5: pipeline.ncu: launch_count is above max_launches",
                          "a.yaml:6:21: pipeline.ncu.ncu_cli.launch_count: must be at most "
                          "max_launches",
                          "a.yaml:7:19: pipeline.ncu.max_launches: must be at least "
                          "ncu_cli.launch_count, or null"));
}

TEST(Validate, PointsAtTheMapWhereAFieldHasItsDefault) {
  const Node ncu = yaml(Tree{{"ncu_cli", Tree{{"launch_count", 3000}}}});
  EXPECT_THAT(problems_of<example::Ncu>(ncu),
              ElementsAre("a.yaml:1:1: launch_count is above max_launches",
                          "a.yaml:1:1: max_launches: must be at least ncu_cli.launch_count, or "
                          "null",
                          "a.yaml:2:17: ncu_cli.launch_count: must be at most max_launches"));
}

struct Window {
  std::optional<int> first;
  std::vector<int> steps;
};
constexpr auto fields(std::type_identity<Window>) {
  return field_list(field("first", &Window::first, "x"), field("steps", &Window::steps, "x"));
}
Checks validate(const Window& window) {
  Checks checks;
  for (const int& step : window.steps) {
    if (step == 0) checks.fail(step, "a step is 0");
  }
  if (window.first) checks.fail(*window.first, "must be null");
  return checks;
}

TEST(Validate, PointsAtAnOptionalByWhatItHoldsAndAtTheStructByAnythingElse) {
  EXPECT_THAT(problems_of<Window>(yaml(Tree{{"steps", list({1, 0})}, {"first", 3}})),
              ElementsAre("a.yaml:1:1: a step is 0", "a.yaml:4:8: first: must be null"));
}

TEST(Validate, WaitsUntilTheFieldsAreSound) {
  const Node nsys = yaml(Tree{{"capture_range", "nvtx"}, {"nvtx_capture", nullptr}, {"x", 1}});
  EXPECT_THAT(problems_of<example::Nsys>(nsys),
              ElementsAre("a.yaml:3:1: unknown key 'x' (known keys: enable, trace, capture_range, "
                          "nvtx_capture, gating_nvtx, samples, timeout)"));
}

}  // namespace
}  // namespace profline::schema
