#include "config/interpolation/resolvers.h"

#include <gtest/gtest.h>

#include "config/interpolation/internal/resolve_fixture.h"

namespace profline::config {
namespace {

TEST(FormatTime, WritesWhatPythonsStrftimeWrites) {
  const LocalTime time{2031, 2, 3, 4, 5, 6, 789};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"%Y-%m-%d", "2031-02-03"},
      {"%H-%M-%S", "04-05-06"},
      {"%f", "000789"},
      {"%I%p", "04AM"},
      {"%a %A %b %B", "Mon Monday Feb February"},
      {"%j %U %W %w %u", "034 05 05 1 1"},
      {"%y %e %-d", "31  3 3"},
      {"%G-W%V", "2031-W06"},
      {"[%z%Z]", "[]"},
      {"100%%", "100%"},
      {"%%f", "%f"},
      {"", ""},
      {"plain é", "plain é"},
  };
  for (const auto& [format, text] : cases) {
    SCOPED_TRACE(format);
    EXPECT_EQ(format_time(time, format), text);
  }
}

TEST(FormatTime, KnowsTheDaysOfTheWeekAndOfLeapYears) {
  EXPECT_EQ(format_time({2024, 2, 29}, "%a %j"), "Thu 060");
  EXPECT_EQ(format_time({2024, 12, 31}, "%a %j"), "Tue 366");
  EXPECT_EQ(format_time({1900, 3, 1}, "%a %j"), "Thu 060");
  EXPECT_EQ(format_time({2000, 3, 1}, "%a %j"), "Wed 061");
  EXPECT_EQ(format_time({1970, 1, 1}, "%a %j"), "Thu 001");
}

TEST(FormatTime, TakesLongFormats) {
  std::string format;
  for (int i = 0; i < 1000; ++i) format += "%A";
  EXPECT_EQ(format_time({2031, 2, 3}, format).size(), 6000U);
}

using ResolversTest = internal::ResolveFixture;

struct ResolverCase {
  std::string_view yaml;
  std::string_view shown;
};

TEST_F(ResolversTest, OneOfOurOwnIsOneLine) {
  registry_.add("pow2", [](const ResolverArguments& a) -> Result<Node> {
    return Node::integer(std::int64_t{1} << PL_TRY(a.integer(0)));
  });
  EXPECT_EQ(get("n: 10\na: ${pow2:${n}}", "a"), "1024");
  EXPECT_EQ(get("a: ${pow2:x}", "a"),
            "resolver_error | conf/a.yaml:1:4: a: pow2: argument 1 is a string, not an "
            "integer\n  ${pow2:x}\n  ^");
  EXPECT_EQ(get("a: x${pow2:}", "a"),
            "resolver_error | conf/a.yaml:1:4: a: pow2: argument 1 is not given, and an integer is "
            "needed\n  x${pow2:}\n   ^");
  EXPECT_EQ(get("a: ${pwo2:1}", "a"),
            "unsupported_interpolation | conf/a.yaml:1:4: a: unknown resolver 'pwo2' (did you mean "
            "'pow2'?)\n  ${pwo2:1}\n  ^");
}

TEST_F(ResolversTest, ArgumentsComeResolvedAndTyped) {
  registry_.add("show", [](const ResolverArguments& a) -> Result<Node> {
    std::string out;
    for (std::size_t i = 0; i < a.size(); ++i) out += python_repr(PL_TRY(a.value(i))) + ";";
    return Node::string(out);
  });
  registry_.add("mean", [](const ResolverArguments& a) -> Result<Node> {
    return Node::real((PL_TRY(a.number(0)) + PL_TRY(a.number(1))) / 2);
  });
  registry_.add("pick", [](const ResolverArguments& a) -> Result<Node> {
    const bool first = PL_TRY(a.boolean(0));
    return Node::string(PL_TRY(a.text(first ? 1 : 2)));
  });
  constexpr ResolverCase kCases[] = {
      {"a: '${show:1, x y, ${b}, [${c}], {k: ${b.k}}}'\nb: {k: '${c}'}\nc: 2",
       "\"1;'x y';{'k': 2};[2];{'k': 2};\""},
      {"a: ${mean:1,2.0}", "1.5"},
      {"a: ${pick:false,x,y}", "'y'"},
      {"a: ${mean:1,x}",
       "resolver_error | conf/a.yaml:1:4: a: mean: argument 2 is a string, not a "
       "number\n  ${mean:1,x}\n  ^"},
      {"a: ${pick:1,x,y}",
       "resolver_error | conf/a.yaml:1:4: a: pick: argument 1 is an integer, not a "
       "boolean\n  ${pick:1,x,y}\n  ^"},
      {"a: ${pick:true,1}",
       "resolver_error | conf/a.yaml:1:4: a: pick: argument 2 is an integer, not a "
       "string\n  ${pick:true,1}\n  ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
}

TEST_F(ResolversTest, AResolverIsCalledEachTimeUnlessItIsCached) {
  int calls = 0;
  const auto count = [&](const ResolverArguments& /*a*/) -> Result<Node> {
    return Node::integer(++calls);
  };
  registry_.add("count", count);
  EXPECT_EQ(all("a: ${count:}\nb: ${a}\nc: ${a}"), "{'a': 1, 'b': 2, 'c': 3}");
  calls = 0;
  registry_.add("count", count, {.cached = true});
  EXPECT_EQ(all("a: ${count:x}\nb: ${count:y}\nc: ${count:x}\nx: 1"),
            "{'a': 1, 'b': 2, 'c': 1, 'x': 1}");
}

TEST_F(ResolversTest, KeysLeadIntoConfigurationsButNotIntoPlainLists) {
  registry_.add("pair", [](const ResolverArguments& /*a*/) -> Result<Node> {
    return Node::list({Node::integer(1), Node::string("${x}")});
  });
  EXPECT_EQ(get("a: '${pair:}'", "a"), "[1, '${x}']");
  EXPECT_EQ(get("a: '${pair:}'", "a.0"), "1");
  EXPECT_EQ(get("a: '${pair:}'\nb: ${a.0}", "b"),
            "resolver_error | conf/a.yaml:2:4: b: interpolation key 'a.0' not found: 'a' is a list "
            "and has no '0'\n  ${a.0}\n  ^");
  EXPECT_EQ(get("a: '${oc.create:${pair:}}'\nb: ${a.0}\nx: 5", "b"), "1");
  EXPECT_EQ(get("a: '${oc.create:${pair:}}'\nx: 5", "a"), "[1, 5]");
}

TEST_F(ResolversTest, Env) {
  variables_ = {{"USER", "ada"}, {"EMPTY", ""}, {"N", "42"}, {"REF", "${b}"}};
  constexpr ResolverCase kCases[] = {
      {"a: ${oc.env:USER}", "'ada'"},
      {"a: ${oc.env:EMPTY}", "''"},
      {"a: ${oc.env:N}", "'42'"},
      {"a: ${oc.env:REF}\nb: 1", "'${b}'"},
      {"a: ${oc.decode:${oc.env:REF}}\nb: 1", "1"},
      {"a: ${oc.env:NO,x y}", "'x y'"},
      {"a: ${oc.env:NO,1.50}", "'1.5'"},
      {"a: ${oc.env:NO,true}", "'True'"},
      {"a: ${oc.env:NO,null}", "None"},
      {"a: '${oc.env:NO,[1, {k: v}]}'", "\"[1, {'k': 'v'}]\""},
      {"a: ${oc.env:NO}",
       "resolver_error | conf/a.yaml:1:4: a: oc.env: environment variable 'NO' is not set, and no "
       "default is given\n  ${oc.env:NO}\n  ^"},
      {"a: ${oc.env:}",
       "resolver_error | conf/a.yaml:1:4: a: oc.env: takes 1 to 2 arguments, not "
       "0\n  ${oc.env:}\n  ^"},
      {"a: ${oc.env:1}",
       "resolver_error | conf/a.yaml:1:4: a: oc.env: the name of the variable must be a string, "
       "not an integer\n  ${oc.env:1}\n  ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
}

TEST_F(ResolversTest, Decode) {
  constexpr ResolverCase kCases[] = {
      {"a: ${oc.decode:${s}}\ns: '[1, a, {k: 1e3}]'", "[1, 'a', {'k': 1000.0}]"},
      {"a: ${oc.decode:${s}}\ns: '\\${t}'\nt: 8", "8"},
      {"a: ${oc.decode:null}", "None"},
      {"a: ${oc.decode:10}",
       "resolver_error | conf/a.yaml:1:4: a: oc.decode: what is decoded must be a string, not an "
       "integer\n  ${oc.decode:10}\n  ^"},
      {"a: ${oc.decode:'a=b'}",
       "grammar | conf/a.yaml:1:4: a: '=' is not allowed outside quotes here\n  a=b\n   ^"},
      {"a: ${oc.decode:' '}",
       "resolver_error | conf/a.yaml:1:4: a: oc.decode: there are only blanks to "
       "decode\n  ${oc.decode:' '}\n  ^"},
      {"a: ${oc.decode:'[${nope}]'}",
       "interpolation_key | conf/a.yaml:1:4: a: interpolation key 'nope' not "
       "found\n  ${oc.decode:'[${nope}]'}\n                ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
}

TEST_F(ResolversTest, Create) {
  constexpr ResolverCase kCases[] = {
      {"a: '${oc.create:{x: 1, y: [1, 2]}}'", "{'x': 1, 'y': [1, 2]}"},
      {"a: '${oc.create:{x: ${b}}}'\nb: 3", "{'x': 3}"},
      {"a: \"${oc.create:'x: ${b}'}\"\nb: 2", "{'x': 2}"},
      {"a: ${oc.create:word}", "{'word': None}"},
      {"a: ${oc.create:''}", "{}"},
      {"a: ${oc.create:null}", "None"},
      // A copy has the surroundings of its new place.
      {"a: ${oc.create:${b.c}}\nb: {c: {x: '${..y}'}, y: 1}\ny: 2", "{'x': 2}"},
      {"a: ${oc.create:5}",
       "resolver_error | conf/a.yaml:1:4: a: oc.create: makes a configuration from a map, a list "
       "or "
       "YAML text, not from an integer\n  ${oc.create:5}\n  ^"},
      {"a: '${oc.create:{null: 1}}'",
       "resolver_error | conf/a.yaml:1:4: a: oc.create: null cannot be a "
       "key\n  ${oc.create:{null: 1}}\n  ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
}

TEST_F(ResolversTest, Select) {
  constexpr ResolverCase kCases[] = {
      {"a: ${oc.select:b.x}\nb: {x: 1}", "1"},
      {"a: ${oc.select:b.y,9}\nb: {x: 1}", "9"},
      {"a: ${oc.select:b.y}\nb: {x: 1}", "None"},
      {"a: ${oc.select:b.x,9}\nb: {x: null}", "None"},
      {"a: ${oc.select:b,9}\nb: ???", "9"},
      {"a: ${oc.select:.b}\nb: [1]", "[1]"},
      {"a: ${oc.select:b.x.y,${c}}\nb: {x: 1}\nc: d", "'d'"},
      {"a: ${oc.select:b.x}\nb: [1]",
       "resolver_error | conf/a.yaml:1:4: a: oc.select: key 'b.x': 'x' is not an index of the list "
       "'b'\n  ${oc.select:b.x}\n  ^"},
      {"a: ${oc.select:..b}",
       "resolver_error | conf/a.yaml:1:4: a: oc.select: key '..b' goes above the "
       "root\n  ${oc.select:..b}\n  ^"},
      {"a: ${oc.select:b,9}\nb: ${nope}",
       "interpolation_key | conf/a.yaml:2:4: b: interpolation key 'nope' not "
       "found\n  ${nope}\n  ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
}

TEST_F(ResolversTest, KeysAndValuesOfMaps) {
  constexpr ResolverCase kCases[] = {
      {"a: ${oc.dict.keys:d}\nd: {z: 1, b: 2}", "['z', 'b']"},
      {"a: ${oc.dict.values:d}\nd: {z: 1, b: '${x}'}\nx: 3", "[1, 3]"},
      {"a: ${oc.dict.values:.d}\nd: {z: 1}", "[1]"},
      {"a: ${oc.dict.keys:d}\nd: ${e}\ne: {k: 1}", "['k']"},
      {"a: ${oc.dict.values:d}\nd: {x y: 1}",
       "grammar | conf/a.yaml:1:4: a: oc.dict.values: [0]: a blank is not allowed in the key of an "
       "interpolation"
       "\n  ${d.x y}\n       ^\n  ${oc.dict.values:d}\n  ^"},
      {"a: ${oc.dict.keys:d}\nd: [1]",
       "resolver_error | conf/a.yaml:1:4: a: oc.dict.keys: key 'd' is a list, not a "
       "map\n  ${oc.dict.keys:d}\n  ^"},
      {"a: ${oc.dict.keys:d}\nd: ???",
       "resolver_error | conf/a.yaml:1:4: a: oc.dict.keys: key 'd' is "
       "???\n  ${oc.dict.keys:d}\n  ^"},
      {"a: ${oc.dict.keys:d}",
       "resolver_error | conf/a.yaml:1:4: a: oc.dict.keys: key 'd' not "
       "found\n  ${oc.dict.keys:d}\n  ^"},
  };
  for (const ResolverCase& c : kCases) EXPECT_EQ(get(c.yaml, "a"), c.shown) << c.yaml;
  EXPECT_EQ(get("d: {a: 1, b: 2}\nk: ${oc.dict.keys:d}\nz: ${k.1}", "z"), "'b'");
}

TEST_F(ResolversTest, DeprecatedWarnsAndGivesTheNewValue) {
  EXPECT_EQ(get("n: {old: '${oc.deprecated:n.new}', new: 5}", "n.old"), "5");
  EXPECT_EQ(get("old: \"${oc.deprecated:new,'$$ \\\\${OLD_KEY}: $NEW_KEY $NEW_KEYS $ $'}\"\nnew: "
                "${z}\nz: 3",
                "old"),
            "3");
  EXPECT_EQ(warnings_, (std::vector<std::string>{
                           "'n.old' is deprecated. Change your code and config to use 'n.new'",
                           "$ old: z $NEW_KEYS $ $"}));
  EXPECT_EQ(get("old: ${oc.deprecated:new}", "old"),
            "resolver_error | conf/a.yaml:1:6: old: oc.deprecated: key 'new' not "
            "found\n  ${oc.deprecated:new}\n  ^");
}

TEST_F(ResolversTest, NowAsksTheClockOnceAFormat) {
  EXPECT_EQ(all("a: ${now:%Y-%m-%d}\nb: x${now:%Y-%m-%d}\nc: ${now:%H}"),
            "{'a': '2031-02-03', 'b': 'x2031-02-03', 'c': '04'}");
  EXPECT_EQ(clock_reads_, 2);
  EXPECT_EQ(get("a: ${now:1}", "a"),
            "resolver_error | conf/a.yaml:1:4: a: now: the format must be a string, not an "
            "integer\n  ${now:1}\n  ^");
}

TEST_F(ResolversTest, HydraLooksIntoItsOwnTree) {
  const Node hydra = load(
      "hydra: {job: {name: app}, run: {dir: 'out/${.name}/${hydra.job.name}', name: r}}\n"
      "x: 1");
  EXPECT_EQ(get("a: ${hydra:job.name}", "a"),
            "resolver_error | conf/a.yaml:1:4: a: hydra: there is no hydra configuration "
            "here\n  ${hydra:job.name}\n  ^");
  context_.hydra_root = &hydra;
  EXPECT_EQ(get("a: ${hydra:job.name}", "a"), "'app'");
  EXPECT_EQ(get("a: ${hydra:run}", "a"), "{'dir': 'out/r/app', 'name': 'r'}");
  EXPECT_EQ(get("a: ${hydra:run}\nb: ${a.dir}", "b"), "'out/r/app'");
  EXPECT_EQ(get("a: ${hydra:nope.x}", "a"), "None");
  EXPECT_EQ(in_place("a: ${hydra:run}"), "{'a': {'dir': 'out/r/app', 'name': 'r'}}");
}

TEST_F(ResolversTest, PythonVersion) {
  context_.python_version = "3.11.7";
  EXPECT_EQ(all("a: '${python_version:}'\nb: ${python_version:major}\nc: ${python_version:micro}\n"
                "d: ${python_version:x}"),
            "{'a': '3.11', 'b': '3', 'c': '3.11.7', 'd': None}");
}

}  // namespace
}  // namespace profline::config
