#include "arguments.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

using Takes = Option::Takes;

const std::vector<Option> kOptions = {
    {"--config-name", "-cn", Takes::Value, "NAME"},
    {"--cfg", "-c", Takes::Value, "PART", "", {"job", "hydra"}},
    {"--info", "-i", Takes::MaybeValue, "WHAT", "", {"all", "defaults"}},
    {"--require", "", Takes::Values, "NAMES", "", {"gpu", "ncu"}},
    {"--resolve", ""},
    {"--verbose", "-v"},
};

using Words = std::vector<std::string>;

Arguments taken_apart(const Words& arguments) {
  auto result = split_arguments(arguments, kOptions);
  EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
  return result ? std::move(*result) : Arguments();
}

TEST(SplitArguments, OptionsStandAnywhereBetweenTheWords) {
  const Arguments given =
      taken_apart({"-cn", "demo", "config", "a=1", "--resolve", "+b=2", "--cfg=hydra", "~c"});
  EXPECT_EQ(given.words, (Words{"config", "a=1", "+b=2", "~c"}));
  EXPECT_EQ(given.value("--config-name"), "demo");
  EXPECT_EQ(given.value("--cfg"), "hydra");
  EXPECT_TRUE(given.has("--resolve"));
  EXPECT_FALSE(given.has("--info"));
}

TEST(SplitArguments, ValuesOfOverridesAreLeftAlone) {
  EXPECT_EQ(taken_apart({"a=-1", "b='x y'", "c=--resolve", "-"}).words,
            (Words{"a=-1", "b='x y'", "c=--resolve", "-"}));
}

TEST(SplitArguments, AfterTwoDashesEverythingIsAWord) {
  EXPECT_EQ(taken_apart({"a=1", "--", "--resolve", "--"}).words, (Words{"a=1", "--resolve", "--"}));
}

TEST(SplitArguments, AnOptionalValueIsNeitherOptionNorOverride) {
  EXPECT_EQ(taken_apart({"--info", "defaults"}).value("--info"), "defaults");
  for (const Words& without : {Words{"--info"}, Words{"-i", "a=1"}, Words{"-i", "-v"},
                               Words{"-i", "+a"}, Words{"-i", "~a"}}) {
    const Arguments given = taken_apart(without);
    EXPECT_TRUE(given.has("--info"));
    EXPECT_EQ(given.value("--info"), std::nullopt);
  }
}

TEST(SplitArguments, TheLastValueCountsAndFlagsAreCounted) {
  const Arguments given = taken_apart({"-cn", "a", "-v", "-cn=b", "-v"});
  EXPECT_EQ(given.value("--config-name"), "b");
  EXPECT_EQ(given.count("--verbose"), 2);
}

TEST(SplitArguments, TakesListsApart) {
  EXPECT_EQ(taken_apart({"--require", "gpu,ncu"}).values("--require"), (Words{"gpu", "ncu"}));
  EXPECT_EQ(taken_apart({}).values("--require"), Words{});
}

TEST(SplitArguments, TellsWhatIsWrong) {
  struct Case {
    Words arguments;
    std::string_view message;
  };
  const Case cases[] = {
      {{"--reslove"},
       "unknown option '--reslove' (did you mean '--resolve'?); 'profline --help' lists what there "
       "is"},
      {{"--quux=1"}, "unknown option '--quux'; 'profline --help' lists what there is"},
      {{"--cfg"}, "--cfg needs a value, PART; see 'profline --help'"},
      {{"--cfg", "jop"}, "--cfg: jop not in {job,hydra}; see 'profline --help'"},
      {{"--info", "defalts"}, "--info: defalts not in {all,defaults}; see 'profline --help'"},
      {{"--require", "gpu,"}, "--require:  not in {gpu,ncu}; see 'profline --help'"},
      {{"--resolve=yes"}, "--resolve takes no value; see 'profline --help'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const auto result = split_arguments(c.arguments, kOptions);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().to_string(), c.message);
    EXPECT_EQ(result.error().kind(), ErrorKind::Config);
  }
}

}  // namespace
}  // namespace profline
