#include <sstream>

#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/overrides/override.h"

namespace profline::config {
namespace {

/// The batches as text: jobs are separated by `;`, batches by `|`.
std::string shown(const std::vector<Batch>& batches) {
  std::string out;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (i > 0) out += " | ";
    for (std::size_t j = 0; j < batches[i].size(); ++j) {
      if (j > 0) out += "; ";
      out += join(batches[i][j], " ");
    }
  }
  return out;
}

std::string expanded(const std::vector<std::string>& texts,
                     std::optional<std::int64_t> max_batch_size = std::nullopt,
                     const SweepServices& services = {}) {
  const auto overrides = parse_overrides(texts);
  if (!overrides) return overrides.error().to_string();
  const auto batches = expand_sweeps(*overrides, max_batch_size, services);
  if (batches) return shown(*batches);
  return std::string(batches.error().reason()) + ": " + batches.error().to_string();
}

TEST(Sweep, MakesEveryCombinationTheLastVaryingFastest) {
  EXPECT_EQ(expanded({"a=1,2", "b=x,'y z'", "c=0"}),
            "a=1 b=x c=0; a=1 b='y z' c=0; a=2 b=x c=0; a=2 b='y z' c=0");
  EXPECT_EQ(expanded({"a=1"}), "a=1");
  EXPECT_EQ(expanded({}), "");
  EXPECT_EQ(expand_sweeps({}, std::nullopt, {})->size(), 1U);
}

TEST(Sweep, WritesEachOverrideInTheGrammar) {
  EXPECT_EQ(expanded({"+a=[x y],{k: 1}", "~b", "~c=null", "g/h@p=${x},True"}),
            "+a=[x\\ y] ~b=null ~c=null g/h@p=$\\{x\\}; +a=[x\\ y] ~b=null ~c=null g/h@p=True; "
            "+a={k:1} ~b=null ~c=null g/h@p=$\\{x\\}; +a={k:1} ~b=null ~c=null g/h@p=True");
}

TEST(Sweep, OfEqualKeysTheLastCountsInTheFirstPlace) {
  EXPECT_EQ(expanded({"a=1,2", "b=3", "a=4"}), "a=4 b=3");
  EXPECT_EQ(expanded({"+a=1", "a=2"}), "+a=1 a=2");
}

TEST(Sweep, SplitsJobsIntoBatches) {
  EXPECT_EQ(expanded({"a=range(5)"}, 2), "a=0; a=1 | a=2; a=3 | a=4");
  EXPECT_EQ(expanded({"a=range(2)"}, 5), "a=0; a=1");
  const auto overrides = parse_overrides(std::vector<std::string>{"a=range(0)"});
  EXPECT_EQ(expand_sweeps(*overrides, 3, {})->size(), 0U);
  EXPECT_EQ(expand_sweeps(*overrides, std::nullopt, {})->size(), 1U);
  EXPECT_EQ(expanded({"a=1"}, 0), ": the size of a batch must be above 0, is 0");
}

TEST(Sweep, CountsRangesAsPythonDoes) {
  struct Case {
    std::string range, items;
  };
  const Case cases[] = {
      {"range(3)", "a=0; a=1; a=2"},
      {"range(5,0,-2)", "a=5; a=3; a=1"},
      {"range(3,1)", ""},
      {"range(true)", "a=0"},
      {"range(1.5)", "a=0.0; a=1.0"},
      {"range(0,0.5,0.1)", "a=0.0; a=0.1; a=0.2; a=0.3; a=0.4"},
      {"range(1,0.5,-0.25)", "a=1.0; a=0.75"},
      {"range(0,0.3,0.1)", "a=0.0; a=0.1; a=0.2"},
      {"range(-0.0,1)", "a=-0.0"},
      {"range(1e16,1e16,1)", ""},
      {"range(0,5,inf)", "a=0.0"},
      {"range(inf,0,-inf)", "a=inf"},
      {"range(99999999999999999999,100000000000000000001)",
       "a=99999999999999999999; a=100000000000000000000"},
      {"range(-1,-100000000000000000000,-99999999999999999998)", "a=-1; a=-99999999999999999999"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.range);
    EXPECT_EQ(expanded({"a=" + c.range}), c.items);
  }
}

TEST(Sweep, SaysWhyItCannotCount) {
  struct Case {
    std::string text, error;
  };
  const Case cases[] = {
      {"a=interval(0,1)",
       "sweep_unsupported: override 1:1:3: an interval has no items to count: use range() or "
       "choice()\n  a=interval(0,1)\n    ^"},
      {"a=range(1,5,0)",
       "invalid_range: override 1:1:3: the step of a range must not be 0\n  a=range(1,5,0)\n    ^"},
      {"a=range(1,nan)",
       "invalid_range: override 1:1:3: a range cannot count with nan\n  a=range(1,nan)\n    ^"},
      {"a=range(0,inf)",
       "sweep_too_large: override 1:1:3: the sweep has more than 1000000 items\n  a=range(0,inf)\n"
       "    ^"},
      {"a=range(-inf,0)",
       "sweep_too_large: override 1:1:3: the sweep has more than 1000000 items\n  a=range(-inf,0)\n"
       "    ^"},
      {"a=1,range(2)",
       "validation: override 1:1:5: a choice cannot contain another sweep\n  a=1,range(2)\n      "
       "^"},
      {"a=[range(2)]",
       "validation: override 1:1:3: a list or dict cannot contain a sweep\n  a=[range(2)]\n    ^"},
      {"a=glob(*)",
       "sweep_unsupported: override 1:1:3: a glob needs the options of a config group\n"
       "  a=glob(*)\n    ^"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(expanded({c.text}), c.error);
  }
  EXPECT_EQ(expanded({"a=range(1001)", "b=range(1000)", "c=range(100000)"}),
            "sweep_too_large: the sweeps together make more than 1000000 jobs");
  EXPECT_EQ(expanded({"a=range(1001)", "b=range(1000)", "c=range(0)"}), "");
}

TEST(Sweep, GlobsOverTheOptionsOfTheGroup) {
  SweepServices services;
  services.group_options = [](const std::string& group) -> Result<std::vector<std::string>> {
    if (group != "db/engine") return Error(ErrorKind::NotFound, "no group " + group);
    return std::vector<std::string>{"mysql", "mssql", "postgres", "a b"};
  };
  EXPECT_EQ(expanded({"db/engine=glob(*)"}, {}, services),
            "db/engine=mysql; db/engine=mssql; db/engine=postgres; db/engine=a b");
  EXPECT_EQ(expanded({"db/engine=glob([m*,'p*',3],exclude=*y*)"}, {}, services),
            "db/engine=mssql; db/engine=postgres");
  EXPECT_EQ(expanded({"x=glob(*)"}, {}, services), ": no group x");
}

TEST(Sweep, ShufflesWithTheGivenRandomNumbers) {
  SweepServices services;
  services.random_below = [](std::size_t) { return std::size_t{0}; };
  EXPECT_EQ(expanded({"a=shuffle(1,2,3)"}, {}, services), "a=2; a=3; a=1");
  EXPECT_EQ(expanded({"a=shuffle(range(3))"}, {}, services), "a=1; a=2; a=0");
}

TEST(Sweep, StopsAtTheItemsAsked) {
  const auto override = parse_override("a=range(1000000000)");
  const auto items = sweep_items(*override, {}, 64);
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().reason(), "sweep_too_large");
  const auto few = parse_override("a=range(64)");
  EXPECT_EQ(sweep_items(*few, {}, 64)->size(), 64U);
}

}  // namespace
}  // namespace profline::config
