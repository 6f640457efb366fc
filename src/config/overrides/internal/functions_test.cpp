#include "config/overrides/internal/functions.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "config/overrides/testing_text.h"

namespace profline::config {
namespace {

struct Case {
  std::string_view call;
  std::string_view result;
};

void expect_results(std::span<const Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.call);
    EXPECT_EQ(parsed("k=" + std::string(c.call)), c.result);
  }
}

/// The reason and the message for a refused call, without place and excerpt.
std::string refusal(std::string_view call) {
  const auto override = parse_override("k=" + std::string(call));
  if (override) return "accepted";
  return std::string(override.error().reason()) + ": " + override.error().message();
}

void expect_refusals(std::span<const Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.call);
    EXPECT_EQ(refusal(c.call), c.result);
  }
}

TEST(OverrideFunctions, CastScalars) {
  constexpr Case kCases[] = {
      {"int(10.9)", "10"},
      {"int(-10.9)", "-10"},
      {"int('  1_000 ')", "1000"},
      {"int(1e20)", "100000000000000000000"},
      {"int(true)", "1"},
      {"int(value=3.5)", "3"},
      {"int ( 3.5 )", "3"},
      {"float(1)", "1.0"},
      {"float('-Infinity')", "-inf"},
      {"float(false)", "0.0"},
      {"str(1.0)", "<1.0>"},
      {"str(1e20)", "<1e+20>"},
      {"str(TRUE)", "<true>"},
      {"str('a b')", "<a b>"},
      {"bool(0)", "False"},
      {"bool(nan)", "True"},
      {"bool('FALSE')", "False"},
      {"bool(null)", "False"},
      {"bool(99999999999999999999)", "True"},
  };
  expect_results(kCases);
}

TEST(OverrideFunctions, CastWhatIsInsideContainersAndSweeps) {
  constexpr Case kCases[] = {
      {"str([1,[true],'x'])", "[<1>, [<true>], <x>]"},
      {"int({a:1.5,2:'3'})", "{<a>: 1, 2: 3}"},
      {"float(1,2)", "simple(1.0, 2.0)"},
      {"str(choice(1,a))", "choice(<1>, <a>)"},
      {"int(tag(t,shuffle(choice(1.5,2.5))))", "choice(1, 2)"},
      {"int(range(1.5,3.5))", "range(1, 3, 1)"},
      {"float(range(3))", "range(0.0, 3.0, 1.0)"},
      {"int(tag(t,interval(1.5,2.5)))", "interval(1, 2) #t"},
      {"bool([glob(*)])", "[True]"},
      {"int([choice(1.5),range(2.5)])", "[choice(1), range(0, 2, 1)]"},
  };
  expect_results(kCases);
}

TEST(OverrideFunctions, RefuseCastsThatPythonRefuses) {
  constexpr Case kCases[] = {
      {"int(abc)", "function_value_error: int(): cannot cast 'abc' to int"},
      {"int(1.5,'1.5')", "function_value_error: int(): cannot cast '1.5' to int"},
      {"int(nan)", "function_value_error: int(): cannot cast nan to int"},
      {"int(-inf)", "function_error: int(): cannot cast -inf to int"},
      {"int(null)", "function_error: int(): cannot cast null to int"},
      {"float('')", "function_value_error: float(): cannot cast '' to float"},
      {"bool(x)", "function_value_error: bool(): cannot cast 'x' to bool"},
      {"bool(range(3))", "function_value_error: bool(): a range can only be cast to int or float"},
      {"str(interval(0,1))",
       "function_value_error: str(): an interval can only be cast to int or float"},
      {"int()", "function_type_error: int(): needs an argument"},
      {"int(value=null)", "function_type_error: int(): needs an argument"},
      {"int(1,value=2)",
       "function_type_error: int(): takes positional arguments or value=, not both"},
      {"int(glob(*))",
       "function_type_error: int(): an argument must be null, bool, int, float, str, list, dict, "
       "choice(), range() or interval(), not glob()"},
      {"int([glob(*)])", "function_error: int(): cannot cast a glob to int"},
      {"float(1,range(3))",
       "function_error: float(): several arguments make a choice, which cannot contain range()"},
      {"int(choice(1,choice(2)))",
       "function_error: int(): cannot cast a choice with a sweep in it to int"},
      {"v=1",
       "syntax: expected ',' or the end of the value (write \\= or quote the value), found '='"},
  };
  expect_refusals(kCases);
  EXPECT_EQ(refusal("float(1" + std::string(309, '0') + ")"),
            "function_error: float(): cannot cast an integer beyond the largest float to float");
}

TEST(OverrideFunctions, MakeSweeps) {
  constexpr Case kCases[] = {
      {"choice(a)", "choice(<a>)"},
      {"choice(a,1,[x],{y:z},'q')", "choice(<a>, 1, [<x>], {<y>: <z>}, <q>)"},
      {"choice(shuffle(a,b))", "choice(<a>, <b>) shuffled"},
      {"choice(a,choice(b))", "choice(<a>, choice(<b>))"},
      {"range(5)", "range(0, 5, 1)"},
      {"range(1,null,2)", "range(0, 1, 2)"},
      {"range(start=1,stop=10.5,step=true)", "range(1, 10.5, True)"},
      {"range(1,stop=1,stop=2)", "range(1, 2, 1)"},
      {"interval(0,true)", "interval(0.0, 1.0)"},
      {"interval(start=-1.5,end=2)", "interval(-1.5, 2.0)"},
      {"glob(*)", "glob([<*>], [])"},
      {"glob([a*,'b*'],exclude='ab*')", "glob([<a*>, 'b*'], [<ab*>])"},
      {"glob(include=*,exclude=[x])", "glob([<*>], [<x>])"},
      {"glob(*,null)", "glob([<*>], [])"},
      {"tag(choice(1,2))", "choice(1, 2)"},
      {"tag(b,'a c',range(3))", "range(0, 3, 1) #a c #b"},
      {"tag(a,tag(b,interval(0,1)))", "interval(0.0, 1.0) #a"},
      {"tag(a,sweep=choice(1))", "choice(1) #a"},
  };
  expect_results(kCases);
}

TEST(OverrideFunctions, RefuseSweepsThatHydraRefuses) {
  constexpr Case kCases[] = {
      {"choice()", "function_value_error: choice(): needs at least one choice"},
      {"choice(choice(a))", "function_value_error: choice(): choices cannot be nested"},
      {"choice(null)",
       "function_type_error: choice(): an argument must be bool, int, float, str, list, dict or "
       "choice(), not null"},
      {"choice(a=b)", "function_type_error: choice(): has no argument named 'a'"},
      {"choice(args=b)", "function_type_error: choice(): has no argument named 'args'"},
      {"range()", "function_type_error: range(): needs 'start'"},
      {"range(stop=3)", "function_type_error: range(): needs 'start'"},
      {"range(1,2,3,4)", "function_type_error: range(): takes at most 3 arguments, not 4"},
      {"range(a)", "function_type_error: range(): 'start' must be bool, int or float, not str"},
      {"range(1,2,null)",
       "function_type_error: range(): 'step' must be bool, int or float, not null"},
      {"range(1,stpo=2)",
       "function_type_error: range(): has no argument named 'stpo' (did you mean 'stop'?)"},
      {"range(1,start=2)",
       "function_type_error: range(): got 'start' twice, by position and by name"},
      {"interval(0)", "function_type_error: interval(): needs 'end'"},
      {"glob(1)", "function_type_error: glob(): 'include' must be str or list, not int"},
      {"tag()", "function_value_error: tag(): needs tags and a sweep"},
      {"tag(sweep=choice(1))", "function_value_error: tag(): needs tags and a sweep"},
      {"tag(a,b)",
       "function_value_error: tag(): the last argument must be a choice, range or interval"},
      {"tag(choice(1),choice(2))",
       "function_value_error: tag(): tags must be strings, not choice()"},
      {"tag(1,choice(2))",
       "function_type_error: tag(): an argument must be str, choice(), range() or interval(), not "
       "int"},
  };
  expect_refusals(kCases);
  EXPECT_EQ(refusal("interval(0,1" + std::string(309, '0') + ")"),
            "function_error: interval(): integer beyond the largest float");
}

TEST(OverrideFunctions, PointAtTheArgumentToBlame) {
  EXPECT_EQ(parsed("k=int([1,'é',{a: x}])"),
            "function_value_error: override:1:10: int(): cannot cast 'é' to int\n"
            "  k=int([1,'é',{a: x}])\n           ^");
  EXPECT_EQ(parsed("k=range(1, b)"),
            "function_type_error: override:1:12: range(): 'stop' must be null, bool, int or float, "
            "not str\n  k=range(1, b)\n             ^");
}

TEST(OverrideFunctions, SortAsPythonDoes) {
  constexpr Case kCases[] = {
      {"sort(3,1,2)", "simple(1, 2, 3)"},
      {"sort(3,true,2.5,reverse=true)", "simple(3, 2.5, True)"},
      {"sort(b,'a',B)", "simple(<B>, <a>, <b>)"},
      {"sort([2,10,1.5,true])", "[True, 1.5, 2, 10]"},
      {"sort([9007199254740993,9007199254740992.0])", "[9007199254740992.0, 9007199254740993]"},
      {"sort([[2],[1,5],[1]])", "[[1], [1, 5], [2]]"},
      {"sort([[{a:1,b:2},2],[{b:2,a:1.0},1]])", "[[{<b>: 2, <a>: 1.0}, 1], [{<a>: 1, <b>: 2}, 2]]"},
      {"sort([1,true,1.0],reverse=true)", "[1, True, 1.0]"},
      {"sort([3,nan,2,1])", "[3, nan, 1, 2]"},
      {"sort([null])", "[null]"},
      {"sort([])", "[]"},
      {"sort(a)", "<a>"},
      {"sort({b:1})", "{<b>: 1}"},
      {"sort(list=[2,1],reverse=false)", "[1, 2]"},
      {"sort(sweep=choice(2,1))", "choice(1, 2)"},
      {"sort(tag(t,choice(b,a)))", "choice(<a>, <b>) #t"},
      {"sort(range(1,5))", "range(1, 5, 1)"},
      {"sort(range(5,1,-1))", "range(2, 6, 1)"},
      {"sort(range(1,5),reverse=true)", "range(4, 0, -1)"},
      {"sort(range(5.5,1,-1))", "range(2, 6.5, 1)"},
      {"sort(range(0,100000000000000000000,3),reverse=true)",
       "range(99999999999999999997, -3, -3)"},
      {"sort(range(5,5))", "range(5, 5, 1)"},
  };
  expect_results(kCases);
  constexpr Case kRefusals[] = {
      {"sort()", "function_value_error: sort(): needs something to sort"},
      {"sort(1,a)", "function_type_error: sort(): cannot sort: str and int have no order"},
      {"sort(['a','b'])", "function_type_error: sort(): cannot sort: str and str have no order"},
      {"sort([null,null])",
       "function_type_error: sort(): cannot sort: null and null have no order"},
      {"sort([1],[2])",
       "function_type_error: sort(): sorts several arguments only if they are numbers or strings, "
       "not list"},
      {"sort(1,2,reverse=1)", "function_type_error: sort(): 'reverse' must be bool, not int"},
      {"sort(interval(0,1))",
       "function_type_error: sort(): an argument must be bool, int, float, str, list, dict, "
       "choice() or range(), not interval()"},
  };
  expect_refusals(kRefusals);
}

TEST(OverrideFunctions, SortLongListsAndKeepEqualItemsInOrder) {
  std::vector<OverrideValue> items;
  for (int i = 0; i < 1000; ++i) {
    const int number = i * 7919 % 100;
    items.emplace_back(i % 2 == 0 ? Node::integer(number) : Node::real(number));
  }
  const auto by_value = [](const OverrideValue& a, const OverrideValue& b) {
    return *to_double(*a.get<Node>()) < *to_double(*b.get<Node>());
  };
  std::vector<OverrideValue> expected = items;
  std::stable_sort(expected.begin(), expected.end(), by_value);
  const auto result = sorted(items, false);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, expected);
}

TEST(OverrideFunctions, ShuffleListsAtOnceAndSweepsLater) {
  constexpr Case kCases[] = {
      {"shuffle(a,b)", "simple(<a>, <b>) shuffled"},
      {"shuffle()", "simple() shuffled"},
      {"shuffle(choice(a,b))", "choice(<a>, <b>) shuffled"},
      {"shuffle(sweep=range(3))", "range(0, 3, 1) shuffled"},
      {"shuffle(a)", "[<a>]"},
      {"shuffle({a:1})", "[{<a>: 1}]"},
      {"shuffle([])", "[]"},
  };
  expect_results(kCases);
  // The last item is swapped with one at or before it, then the one before, and so on.
  std::vector<std::size_t> bounds;
  const RandomBelow first = [&](std::size_t bound) {
    bounds.push_back(bound);
    return std::size_t{0};
  };
  const auto override = parse_override("k=shuffle(list=[1,2,3,4])", {.random_below = first});
  ASSERT_TRUE(override);
  EXPECT_EQ(shown(*override->value), "[2, 3, 4, 1]");
  EXPECT_EQ(bounds, (std::vector<std::size_t>{4, 3, 2}));
  constexpr Case kRefusals[] = {
      {"shuffle(1,range(3))",
       "function_error: shuffle(): several arguments make a choice, which cannot contain range()"},
      {"shuffle(list=1)", "function_type_error: shuffle(): 'list' must be null or list, not int"},
  };
  expect_refusals(kRefusals);
}

}  // namespace
}  // namespace profline::config
