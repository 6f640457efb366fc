#include "arguments.h"

#include <limits>

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

TEST(SplitArguments, AfterTwoDashesEverythingIsTheProgram) {
  const Arguments given = taken_apart({"a=1", "--", "x", "--resolve", "--"});
  EXPECT_EQ(given.words, (Words{"a=1"}));
  EXPECT_EQ(given.program, (Words{"x", "--resolve", "--"}));
  EXPECT_EQ(taken_apart({"a=1", "--"}).program, Words{});
  EXPECT_EQ(taken_apart({"a=1"}).program, std::nullopt);
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

TEST(SplitArguments, ReportsWhatIsWrong) {
  struct Case {
    Words arguments;
    std::string_view message;
  };
  const Case cases[] = {
      {{"--reslove"},
       "unknown option '--reslove' (did you mean '--resolve'?); 'profline --help' lists the "
       "options"},
      {{"--quux=1"}, "unknown option '--quux'; 'profline --help' lists the options"},
      {{"--cfg"}, "--cfg needs a value, PART; see 'profline --help'"},
      {{"run", "-cn", "--", "x"}, "--config-name needs a value, NAME; see 'profline --help'"},
      {{"--require", "--", "x"}, "--require needs a value, NAMES; see 'profline --help'"},
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

TEST(SplitArguments, EveryValueOfAnOptionIsKept) {
  const Arguments given = taken_apart({"-cn", "a", "-cn=b"});
  EXPECT_EQ(given.each_value("--config-name"), (Words{"a", "b"}));
  EXPECT_EQ(given.each_value("--cfg"), Words{});
}

TEST(WholeNumber, HasBounds) {
  EXPECT_EQ(parse_whole_number("7", "--keep").value(), 7U);
  EXPECT_EQ(parse_whole_number("0", "--keep", {.least = 0}).value(), 0U);
  EXPECT_EQ(parse_whole_number("1000000000", "--keep").value(), 1'000'000'000U);
  for (const char* wrong : {"", "0", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x1", "many",
                            "1000000001", "99999999999999999999999"}) {
    const auto refused = parse_whole_number(wrong, "--keep");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().to_string(),
              "--keep must be an integer from 1 to 1000000000, not '" + std::string(wrong) + "'");
    EXPECT_EQ(refused.error().reason(), "usage");
  }
}

TEST(WholeNumber, TwoAreARange) {
  EXPECT_EQ(parse_whole_number_range("3:8", "--launch-range").value(), (WholeNumberRange{3, 8}));
  EXPECT_EQ(parse_whole_number_range("3-3", "--launch-range").value(), (WholeNumberRange{3, 3}));
  for (const std::string wrong : {"", "3", "0:4", "5:4", "3:", ":3", "3:x", "3:4:5", "-3:4"}) {
    const auto refused = parse_whole_number_range(wrong, "--launch-range");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(
        refused.error().message(),
        "--launch-range must be FIRST:LAST, integers from 1 to 1000000000 as in 10:40, not '" +
            wrong + "'");
  }
}

TEST(WholeNumber, IsNothingWhereTheOptionIsNotGiven) {
  Arguments given;
  EXPECT_EQ(whole_number(given, "--keep").value(), std::nullopt);
  given.add({"--keep", "3"});
  EXPECT_EQ(whole_number(given, "--keep").value(), 3U);
}

TEST(RowsAskedFor, MayBeAll) {
  Arguments given;
  EXPECT_EQ(rows_asked_for(given).value(), std::nullopt);
  given.add({"--top", "12"});
  EXPECT_EQ(rows_asked_for(given).value(), 12U);
  given.add({"--top", "all"});
  EXPECT_EQ(rows_asked_for(given).value(), std::numeric_limits<std::size_t>::max());
  given.add({"--top", "none"});
  EXPECT_EQ(rows_asked_for(given).error().to_string(),
            "--top must be an integer from 1 to 1000000000 or 'all', not 'none'");
}

TEST(Share, IsPercentOrAPartOfOne) {
  EXPECT_EQ(parse_share("3%", "--threshold").value(), 0.03);
  EXPECT_EQ(parse_share(" 0.5 ", "--threshold").value(), 0.5);
  EXPECT_EQ(parse_share("0", "--threshold").value(), 0);
  for (const char* wrong : {"3", "100%", "-1%", "some", "", "nan"}) {
    const auto refused = parse_share(wrong, "--threshold");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().to_string(),
              "--threshold takes a share below 100 %, as in 3% or 0.03, not '" +
                  std::string(wrong) + "'");
  }
}

}  // namespace
}  // namespace profline
