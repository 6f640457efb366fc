#include <gtest/gtest.h>

#include "config/overrides/override.h"
#include "config/overrides/testing_text.h"

namespace profline::config {
namespace {

TEST(OverrideParser, ReadsPrefixKeyAndPackage) {
  struct Case {
    std::string_view text;
    OverrideType type;
    std::string_view key;
    std::optional<std::string> package;
  };
  const Case cases[] = {
      {"a=1", OverrideType::Change, "a", std::nullopt},
      {"+a.b=1", OverrideType::Add, "a.b", std::nullopt},
      {"++list.0=1", OverrideType::ForceAdd, "list.0", std::nullopt},
      {"~a-b/c_d/e=1", OverrideType::Delete, "a-b/c_d/e", std::nullopt},
      {"$a.b$.1_0=1", OverrideType::Change, "$a.b$.1_0", std::nullopt},
      {"0.a=1", OverrideType::Change, "0.a", std::nullopt},
      {"db@src.main=1", OverrideType::Change, "db", "src.main"},
      {"db/engine@_global_=1", OverrideType::Change, "db/engine", "_global_"},
      {"db@=1", OverrideType::Change, "db", ""},
      {"@$pkg=1", OverrideType::Change, "", "$pkg"},
      {"=1", OverrideType::Change, "", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto override = parse_override(c.text);
    ASSERT_TRUE(override) << override.error().to_string();
    EXPECT_EQ(override->type, c.type);
    EXPECT_EQ(override->key, c.key);
    EXPECT_EQ(override->package, c.package);
    EXPECT_EQ(shown(*override->value), "1");
    EXPECT_EQ(override->key_element() + "=1", c.text);
    EXPECT_EQ(override->value_text(), "1");
  }
}

TEST(OverrideParser, ADeletionMayHaveNoValue) {
  const auto override = parse_override("~db@main");
  ASSERT_TRUE(override);
  EXPECT_EQ(override->type, OverrideType::Delete);
  EXPECT_EQ(override->value, std::nullopt);
  EXPECT_EQ(override->value_text(), std::nullopt);
  EXPECT_EQ(parsed("~db="), "<>");
}

TEST(OverrideParser, KnowsWhereItsPartsBegin) {
  const auto override = parse_override("+db@a.b= [1, 'é', {k: x}]", {.label = "override 3"});
  ASSERT_TRUE(override);
  EXPECT_EQ(override->place, (Position{"override 3", 1, 1}));
  EXPECT_EQ(override->key_column, 2U);
  EXPECT_EQ(override->package_column, 5U);
  EXPECT_EQ(override->value->column(), 10U);
  const auto& list = *override->value->get<OverrideValue::List>();
  EXPECT_EQ(list[0].column(), 11U);
  EXPECT_EQ(list[1].column(), 14U);
  EXPECT_EQ(list[2].column(), 19U);  // characters, not bytes
  EXPECT_EQ((*list[2].get<OverrideValue::Dict>())[0].value.column(), 23U);
}

struct ValueCase {
  std::string_view text;
  std::string_view value;
};

void expect_values(std::span<const ValueCase> cases) {
  for (const ValueCase& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(parsed("k=" + std::string(c.text)), c.value);
  }
}

TEST(OverrideParser, OneTokenHasItsOwnType) {
  constexpr ValueCase kCases[] = {
      {"null", "null"},
      {"NuLL", "null"},
      {"true", "True"},
      {"FALSE", "False"},
      {"abc-1_x", "<abc-1_x>"},
      {"0", "0"},
      {"-10", "-10"},
      {"+7", "7"},
      {"1_000_000", "1000000"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9223372036854775808"},
      {"-99999999999999999999", "-99999999999999999999"},
      {"3.", "3.0"},
      {".5", "0.5"},
      {"-.25", "-0.25"},
      {"1_0.2_5", "10.25"},
      {"1e3", "1000.0"},
      {"2.5E-2", "0.025"},
      {"1.e0_1", "10.0"},
      {"1e16", "1e+16"},
      {"1e400", "inf"},
      {"1e-400", "0.0"},
      {"inf", "inf"},
      {"-INF", "-inf"},
      {"+NaN", "nan"},
      {"${a.b}", "<${a.b}>"},
      {"${oc.env:HOME,[}", "<${oc.env:HOME,[}>"},
      {"\\,\\ \\(", "<, (>"},
      {"*", "<*>"},
      {":", "<:>"},
  };
  expect_values(kCases);
}

TEST(OverrideParser, SeveralTokensAreAString) {
  constexpr ValueCase kCases[] = {
      {"007", "<007>"},
      {"1__0", "<1__0>"},
      {"0_1", "<0_1>"},
      {"1e", "<1e>"},
      {"12.3.4", "<12.3.4>"},
      {"-true", "<-true>"},
      {"info", "<info>"},
      {"-info", "<-info>"},
      {"null x", "<null x>"},
      {"a  b\t", "<a  b>"},
      {"a : b", "<a : b>"},
      {"a\\ ", "<a >"},
      {"c:\\dir\\a-b.txt", "<c:\\dir\\a-b.txt>"},
      {"a\\\\\\,b", "<a\\,b>"},
      {"out/${now:%H}/${x}", "<out/${now:%H}/${x}>"},
      {"$\\{a\\}", "<${a}>"},
      {"10%|?@+.$", "<10%|?@+.$>"},
  };
  expect_values(kCases);
}

TEST(OverrideParser, QuotesKeepWhatIsBetweenThem) {
  constexpr ValueCase kCases[] = {
      {"''", "''"},
      {"\"a b\"", "\"a b\""},
      {"'1'", "'1'"},
      {"'a,b=[c'", "'a,b=[c'"},
      {"'${a.${b}}'", "'${a.${b}}'"},
      {"'é\n'", "'é\n'"},
      {R"('it\'s')", "'it's'"},
      {R"('a\\')", R"('a\')"},
      {R"('a\\\'b')", R"('a\'b')"},
      {R"('a\b\\c\"')", R"('a\b\\c\"')"},
      {R"("\\\\")", R"("\\")"},
  };
  expect_values(kCases);
}

TEST(OverrideParser, ReadsListsAndDicts) {
  constexpr ValueCase kCases[] = {
      {"[]", "[]"},
      {"[ ]", "[]"},
      {"[ 1 ,  a b , 'c' ]", "[1, <a b>, 'c']"},
      {"[[a],[],{}]", "[[<a>], [], {}]"},
      {"{}", "{}"},
      {"{ a : 1 , b:{c: [x]} }", "{<a>: 1, <b>: {<c>: [<x>]}}"},
      {"{a:b:c}", "{<a>: <b:c>}"},
      {"{1: a, 2.5: b, true: c, null: d, x y: e, a\\:b: f, $: g}",
       "{1: <c>, 2.5: <b>, null: <d>, <x y>: <e>, <a:b>: <f>, <$>: <g>}"},
  };
  expect_values(kCases);
}

TEST(OverrideParser, EqualKeysAreEqualAsInPython) {
  EXPECT_EQ(parsed("k={a:1,b:2,a:3}"), "{<a>: 3, <b>: 2}");
  EXPECT_EQ(parsed("k={1:a,1.0:b,true:c}"), "{1: <c>}");
  EXPECT_EQ(parsed("k={0:a,-0.0:b,false:c,0x:d}"), "{0: <c>, <0x>: <d>}");
  EXPECT_EQ(parsed("k={nan:a,nan:b}"), "{nan: <a>, nan: <b>}");
  EXPECT_EQ(parsed("k={1e20:a,100000000000000000000:b}"), "{1e+20: <b>}");
}

TEST(OverrideParser, CommasMakeASimpleChoice) {
  EXPECT_EQ(parsed("k=a, 1 ,[x],'b,c'"), "simple(<a>, 1, [<x>], 'b,c')");
  EXPECT_EQ(parsed("k=choice(1,2),3"), "simple(choice(1, 2), 3)");
}

TEST(OverrideParser, TellsWhatIsWrongAndWhere) {
  struct Case {
    std::string_view text;
    std::string_view error;
  };
  constexpr Case kCases[] = {
      {"", "syntax: override:1:1: expected a key, found the end\n  \n  ^"},
      {"abc", "syntax: override:1:4: expected '=' and a value, found the end\n  abc\n     ^"},
      {"~abc:d", "syntax: override:1:5: expected '=' or the end, found ':'\n  ~abc:d\n      ^"},
      {"+++a=1", "syntax: override:1:3: expected a key, found '+'\n  +++a=1\n    ^"},
      {"a/=1", "syntax: override:1:3: expected the name of a group, found '='\n  a/=1\n    ^"},
      {"a@p@q=1", "syntax: override:1:4: expected '=' and a value, found '@'\n  a@p@q=1\n     ^"},
      {"a@b:c=1", "syntax: override:1:4: expected '=' and a value, found ':'\n  a@b:c=1\n     ^"},
      {"a=)", "syntax: override:1:3: expected a value, found ')'\n  a=)\n    ^"},
      {"a=b=c",
       "syntax: override:1:4: expected ',' or the end of the value (write \\= or quote the value), "
       "found '='\n  a=b=c\n     ^"},
      {"a='b' 'c'",
       "syntax: override:1:6: expected ',' or the end of the value, found a blank\n  a='b' 'c'\n"
       "       ^"},
      {"a=b'c'",
       "syntax: override:1:4: expected ',' or the end of the value, found 'c'\n  a=b'c'\n     ^"},
      {"a=[b,,c]", "syntax: override:1:6: expected a value, found ','\n  a=[b,,c]\n       ^"},
      {"a=[b", "syntax: override:1:5: expected ',' or ']', found the end\n  a=[b\n      ^"},
      {"a={b:1,}",
       "syntax: override:1:8: expected a key without quotes, found '}'\n  a={b:1,}\n         ^"},
      {"a={'b':1}",
       "syntax: override:1:4: expected a key without quotes, found 'b'\n  a={'b':1}\n     ^"},
      {"a={b}", "syntax: override:1:5: expected ':' after the key, found '}'\n  a={b}\n      ^"},
      {"a=f(b{)", "syntax: override:1:6: expected ',' or ')', found '{'\n  a=f(b{)\n       ^"},
      {"a=${b.${c}}",
       "syntax: override:1:11: expected ',' or the end of the value, found '}'\n  a=${b.${c}}\n"
       "            ^"},
      {"é=1",
       "lexer: override:1:1: 'é' is not allowed here: a key is a path such as db.user or list.0, "
       "or "
       "a group such as db/engine\n  é=1\n  ^"},
      {"a=é#", "lexer: override:1:3: 'é' is not allowed in a value without quotes\n  a=é#\n    ^"},
      {"a=b\nc",
       "lexer: override:1:4: a line feed is not allowed in a value without quotes\n  a=b c\n     "
       "^"},
      {"a=b\x7f",
       "lexer: override:1:4: the control character 0x7f is not allowed in a value without quotes\n"
       "  a=b \n     ^"},
      {"a=['b, c]", "lexer: override:1:4: this quote is never closed\n  a=['b, c]\n     ^"},
      {"a=nofn(1)",
       "unknown_function: override:1:3: unknown function 'nofn' (there are bool, choice, float, "
       "glob, int, interval, range, shuffle, sort, str, tag)\n  a=nofn(1)\n    ^"},
      {"a=chioce(1)",
       "unknown_function: override:1:3: unknown function 'chioce' (did you mean 'choice'?)\n"
       "  a=chioce(1)\n    ^"},
      {"a=range(stop=5,1)",
       "reserved_arg_order: override:1:16: range(): an argument without a name follows one with a "
       "name\n  a=range(stop=5,1)\n                 ^"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(parsed(c.text), c.error);
  }
}

// Of two mistakes Hydra reports the one that its parser reaches first, and that parser reads ahead.
TEST(OverrideParser, OfTwoFaultsTellsTheOneHydraTells) {
  struct Case {
    std::string_view text;
    std::string_view reason;
  };
  constexpr Case kCases[] = {
      {"a='b'c#", "lexer"},         // one token beyond the wrong one
      {"a='b'c d#", "syntax"},      //
      {"a={'b' c d#", "lexer"},     // all of the first element
      {"a=x,{'b' c d#", "syntax"},  // but not of a later one,
      {"a=x,[b{#", "lexer"},        // where it is one token
      {"a=x,[b,c{#", "syntax"},     // and none after a comma,
      {"a=x,f(1{c#", "syntax"},     //
      {"a=x,f(b{c#", "lexer"},      // unless a name could be an argument's
      {"+~a#", "syntax"},           //
      {"++~a b#", "lexer"},         //
      {"a=int(x),]", "syntax"},     // functions come last
      {"a=int(x),nofn(1),#", "lexer"},
      {"a=range(stop=1,nofn(2))", "reserved_arg_order"},
      {"a=nofn(int(x))", "function_value_error"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const auto override = parse_override(c.text);
    ASSERT_FALSE(override);
    EXPECT_EQ(override.error().reason(), c.reason) << override.error().to_string();
  }
}

TEST(OverrideParser, RefusesTextThatIsNestedTooDeep) {
  for (const std::string_view open : {"[", "{a:", "int("}) {
    SCOPED_TRACE(open);
    std::string text = "a=";
    for (int i = 0; i < 100'000; ++i) text += open;
    const auto override = parse_override(text);
    ASSERT_FALSE(override);
    EXPECT_EQ(override.error().message(), "brackets are nested more than 200 deep");
    EXPECT_EQ(override.error().reason(), "syntax");
  }
  const std::string deepest = "a=" + std::string(200, '[') + std::string(200, ']');
  EXPECT_TRUE(parse_override(deepest));
}

TEST(OverrideParser, LongTextsThatOpenMuchAndCloseNothingAreQuickToRefuse) {
  for (const std::string_view part : {"${", "\\", "'", "1_", "a:", "- ", "0"}) {
    SCOPED_TRACE(part);
    std::string text = "a=[";
    for (int i = 0; i < 200'000; ++i) text += part;
    EXPECT_FALSE(parse_override(text));
  }
}

TEST(OverrideParser, RefusesIntegersThatPythonRefuses) {
  EXPECT_EQ(parsed("a=" + std::string(4300, '9')), std::string(4300, '9'));
  const auto override = parse_override("a=[x," + std::string(4301, '9') + "]");
  ASSERT_FALSE(override);
  EXPECT_EQ(override.error().message(), "an integer has at most 4300 digits");
}

TEST(OverrideParser, CutsLongTextsInMessages) {
  const auto override = parse_override("a=b'" + std::string(1000, 'x') + "'");
  ASSERT_FALSE(override);
  EXPECT_EQ(override.error().message(),
            "expected ',' or the end of the value, found '" + std::string(59, 'x') + "…");
}

TEST(OverrideParser, NumbersTheOverridesOfACommandLine) {
  const std::string texts[] = {"a=1", "b=2"};
  const auto both = parse_overrides(texts);
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)[1].place.source, "override 2");
  const std::string wrong[] = {"a=1", "b=[", "c"};
  const auto failed = parse_overrides(wrong);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(),
            "override 2:1:4: expected a value, found the end\n  b=[\n     ^");
}

}  // namespace
}  // namespace profline::config
