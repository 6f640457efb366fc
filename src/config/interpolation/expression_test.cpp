#include "config/interpolation/expression.h"

#include <string>

#include <gtest/gtest.h>

#include "config/interpolation/value.h"

namespace profline::config {
namespace {

std::string shape(const Expression& expression);

std::string shapes(const std::vector<Expression>& parts, std::string_view separator) {
  std::string out;
  for (const Expression& part : parts) {
    if (!out.empty()) out += separator;
    out += shape(part);
  }
  return out;
}

/// Literals as Python shows them, `<…>` for joined text, `ref(…)`, `call(name; arguments)`.
std::string shape(const Expression& expression) {
  struct Shape {
    std::string operator()(const Literal& it) const { return python_repr(it.value); }
    std::string operator()(const Text& it) const { return "<" + shapes(it.parts, " ") + ">"; }
    std::string operator()(const Reference& it) const { return "ref(" + shapes(it.key, " ") + ")"; }
    std::string operator()(const Call& it) const {
      return "call(" + shapes(it.name, ".") + "; " + shapes(it.arguments, ", ") + ")";
    }
    std::string operator()(const ListItems& it) const { return "[" + shapes(it.items, ", ") + "]"; }
    std::string operator()(const MapItems& it) const {
      std::string out;
      for (const auto& [key, value] : it.entries) {
        out += (out.empty() ? "" : ", ") + python_repr(key) + ": " + shape(value);
      }
      return "{" + out + "}";
    }
  };
  return std::visit(Shape(), expression.form);
}

std::string shape(const Result<Expression>& parsed) {
  return parsed ? shape(*parsed) : parsed.error().to_string();
}

struct Case {
  std::string_view text;
  std::string_view shape;
};

TEST(ParseText, ReadsReferences) {
  constexpr Case kCases[] = {
      {"${a}", "ref('a')"},
      {"${a.b[c].d}", "ref('a.b[c].d')"},
      {"${[a][b]}", "ref('[a][b]')"},
      {"${.a}", "ref('.a')"},
      {"${...[a].b}", "ref('...[a].b')"},
      {"${ \ta\t }", "ref('a')"},
      {"${a-b.x@y.10.é,=}", "ref('a-b.x@y.10.é,=')"},
      {"${$x$}", "ref('$x$')"},
      {"${${a}}", "ref(ref('a'))"},
      {"${a.${b}.c[${d}]}", "ref('a.' ref('b') '.c[' ref('d') ']')"},
      {"${.${a}}", "ref('.' ref('a'))"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_text(c.text)), c.shape) << c.text;
}

TEST(ParseText, ReadsCalls) {
  constexpr Case kCases[] = {
      {"${f:}", "call('f'; )"},
      {"${f: }", "call('f'; )"},
      {"${oc.env:HOME}", "call('oc'.'env'; 'HOME')"},
      {"${ f : a , b }", "call('f'; 'a', 'b')"},
      {"${${n}.x.${m}:1}", "call(ref('n').'x'.ref('m'); 1)"},
      {"${f:,}", "call('f'; '', '')"},
      {"${f:a,}", "call('f'; 'a', '')"},
      {"${f:,a}", "call('f'; '', 'a')"},
      {"${f:a,,b}", "call('f'; 'a', '', 'b')"},
      {"${f:${a},x${b}y}", "call('f'; ref('a'), <'x' ref('b') 'y'>)"},
      {"${f:'a, b',\"c}\"}", "call('f'; 'a, b', 'c}')"},
      {"${f:[],{}}", "call('f'; [], {})"},
      {"${f:[1, [a]], {k: {l: [2]}}}", "call('f'; [1, ['a']], {'k': {'l': [2]}})"},
      {"${f:a:b}", "call('f'; 'a:b')"},
      {"${f:g:}", "call('f'; 'g:')"},
      {"${f::}", "call('f'; ':')"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_text(c.text)), c.shape) << c.text;
}

TEST(ParseText, JoinsFreeTextAndKeepsOneInterpolationAsItIs) {
  constexpr Case kCases[] = {
      {"a ${b} c", "<'a ' ref('b') ' c'>"},
      {"${a}${b}", "<ref('a') ref('b')>"},
      {"${a} ", "<ref('a') ' '>"},
      {"${a}}", "<ref('a') '}'>"},
      {"$${a}", "<'$' ref('a')>"},
      {"$a {b} 'c' \"d\": [e], \n", "'$a {b} \\'c\\' \"d\": [e], \\n'"},
      {"$", "'$'"},
      {"", "<>"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_text(c.text)), c.shape) << c.text;
}

TEST(ParseText, CountsBackslashesOnlyBeforeAnInterpolation) {
  constexpr Case kCases[] = {
      {R"(\${a})", "'${a}'"},
      {R"(\\${a})", R"(<'\\' ref('a')>)"},
      {R"(\\\${a})", R"('\\${a}')"},
      {R"(\\\\${a})", R"(<'\\\\' ref('a')>)"},
      {R"(\a\\b${a})", R"(<'\\a\\\\b' ref('a')>)"},
      {R"(\\)", R"('\\\\')"},
      {R"(\\\$a)", R"('\\\\\\$a')"},
      {R"(${a}\\)", R"(<ref('a') '\\\\'>)"},
      {R"(${a}\)", R"(<ref('a') '\\'>)"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_text(c.text)), c.shape) << c.text;
}

TEST(ParseElement, GivesUnquotedValuesTheirTypes) {
  constexpr Case kCases[] = {
      {"abc", "'abc'"},
      {"a-b_1", "'a-b_1'"},
      {"null", "None"},
      {"NuLL", "None"},
      {"nulls", "'nulls'"},
      {"TrUe", "True"},
      {"false", "False"},
      {"truest", "'truest'"},
      {"12", "12"},
      {"-12", "-12"},
      {"+12", "12"},
      {"1_000", "1000"},
      {"1__0", "'1__0'"},
      {"007", "'007'"},
      {"12345678901234567890", "12345678901234567890"},
      {"-12345678901234567890", "-12345678901234567890"},
      {"1.5", "1.5"},
      {"1.", "1.0"},
      {".5", "0.5"},
      {"-.5_0", "-0.5"},
      {"1._5", "'1._5'"},
      {"1e3", "1000.0"},
      {"1_0E-1_0", "1e-09"},
      {"1e", "'1e'"},
      {"01e2", "'01e2'"},
      {"1e400", "inf"},
      {"-1e-400", "-0.0"},
      {"inf", "inf"},
      {"-INF", "-inf"},
      {"NaN", "nan"},
      {"infinity", "'infinity'"},
      {".", "'.'"},
      {"a b", "'a b'"},
      {" a ", "' a '"},
      {"/-\\+.$%*@?|", R"('/-\\+.$%*@?|')"},
      {"1:2", "'1:2'"},
      {" : ", "' : '"},
      {"2024-01-02", "'2024-01-02'"},
      {"1 2", "'1 2'"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_element(c.text)), c.shape) << c.text;
}

TEST(ParseElement, UnescapesOutsideOfQuotes) {
  constexpr Case kCases[] = {
      {R"(a\,b)", "'a,b'"},
      {R"(\(\)\[\]\{\}\:\=\ )", "'()[]{}:= '"},
      {"\\\t", "'\\t'"},
      {R"(\\)", R"('\\')"},
      {R"(\\\\)", R"('\\\\')"},
      {R"(\a)", R"('\\a')"},
      {R"(a\ b\\c)", R"('a b\\c')"},
      {R"({a\:b: \,})", "{'a:b': ','}"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_element(c.text)), c.shape) << c.text;
}

TEST(ParseElement, ReadsQuotes) {
  constexpr Case kCases[] = {
      {"''", "''"},
      {R"("")", "''"},
      {"'1'", "'1'"},
      {"'a, b: [c] {d} \"e\"'", "'a, b: [c] {d} \"e\"'"},
      {R"('it\'s')", "\"it's\""},
      {R"("say \"x\"")", "'say \"x\"'"},
      {R"('a\\\'b')", R"("a\\'b")"},
      {R"('a\\')", R"('a\\')"},
      {R"('a\\b')", R"('a\\\\b')"},
      {R"('\d')", R"('\\d')"},
      {"'${a}'", "<ref('a')>"},
      {"'x${a}y'", "<'x' ref('a') 'y'>"},
      {R"('\${a}')", "'${a}'"},
      {R"('\\${a}')", R"(<'\\' ref('a')>)"},
      {"'${f:'a'}'", "<call('f'; 'a')>"},
      {"'$'", "'$'"},
      {"'a\nb'", R"('a\nb')"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_element(c.text)), c.shape) << c.text;
}

TEST(ParseElement, ReadsListsAndMaps) {
  constexpr Case kCases[] = {
      {"[ a , b ]", "['a', 'b']"},
      {"[a,]", "['a', '']"},
      {"[,]", "['', '']"},
      {"{ a : 1 , b : 2 }", "{'a': 1, 'b': 2}"},
      {"{a:1,true:2,1.5:3,null:4,a b:5}", "{'a': 1, True: 2, 1.5: 3, None: 4, 'a b': 5}"},
      {"{a: b:c}", "{'a': 'b:c'}"},
      {"{a: ${b}}", "{'a': ref('b')}"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_element(c.text)), c.shape) << c.text;
}

TEST(ParseText, RefusesWhatDoesNotFollowTheGrammar) {
  constexpr Case kCases[] = {
      {"${a",
       "line 1, column 4: the text ends where '}', '.', '[' or ':' should be\n  ${a\n     ^"},
      {"x ${}", "line 1, column 5: '}' found where a key should be\n  x ${}\n      ^"},
      {"${ }", "line 1, column 4: '}' found where a key should be\n  ${ }\n     ^"},
      {"${a b}",
       "line 1, column 4: a blank is not allowed in the key of an interpolation\n  ${a b}\n     ^"},
      {"${a.}", "line 1, column 5: '}' found where a key should be\n  ${a.}\n      ^"},
      {"${a..b}", "line 1, column 5: '.' found where a key should be\n  ${a..b}\n      ^"},
      {"${a[b}", "line 1, column 6: '}' found where ']' should be\n  ${a[b}\n       ^"},
      {"${a]}",
       "line 1, column 4: ']' found where '}', '.', '[' or ':' should be\n  ${a]}\n     ^"},
      {"${a\\b}",
       "line 1, column 4: '\\' is not allowed in the key of an interpolation\n  ${a\\b}\n     ^"},
      {"é${a{b}}",
       "line 1, column 5: '{' is not allowed in the key of an interpolation\n  é${a{b}}\n      ^"},
      {"${.f:x}",
       "line 1, column 3: '.' found where the name of a resolver should be\n  ${.f:x}\n    ^"},
      {"${f[g]:x}",
       "line 1, column 4: '[' found where the name of a resolver should be\n  ${f[g]:x}\n     ^"},
      {"${1:x}",
       "line 1, column 3: '1' found where the name of a resolver should be\n  ${1:x}\n    ^"},
      {"${f:a=b}",
       "line 1, column 6: '=' is not allowed outside quotes here\n  ${f:a=b}\n       ^"},
      {"${f:é}", "line 1, column 5: 'é' is not allowed outside quotes here\n  ${f:é}\n      ^"},
      {"${f:a[0]}",
       "line 1, column 6: '[' found where ',' or '}' should be\n  ${f:a[0]}\n       ^"},
      {"${f:'a'b}",
       "line 1, column 8: 'b' found where ',' or '}' should be\n  ${f:'a'b}\n         ^"},
      {"${f:'a}",
       "line 1, column 8: the text ends where the closing quote should be\n"
       "  ${f:'a}\n         ^"},
      {"${f:[a}", "line 1, column 7: '}' found where ',' or ']' should be\n  ${f:[a}\n        ^"},
      {"${f:{a}}", "line 1, column 7: '}' found where ':' should be\n  ${f:{a}}\n        ^"},
      {"${f:{a:1,}}",
       "line 1, column 10: '}' found where a key should be\n  ${f:{a:1,}}\n           ^"},
      {"${f:{${a}:1}}",
       "line 1, column 6: '${' found where a key should be\n  ${f:{${a}:1}}\n       ^"},
      {"one\ntwo ${a",
       "line 2, column 8: the text ends where '}', '.', '[' or ':' should be\n"
       "  two ${a\n         ^"},
  };
  for (const Case& c : kCases) {
    const Result<Expression> parsed = parse_text(c.text);
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_EQ(parsed.error().to_string(), c.shape);
    EXPECT_EQ(parsed.error().reason(), "grammar");
    EXPECT_EQ(parsed.error().kind(), ErrorKind::Parse);
  }
}

TEST(ParseElement, RefusesWhatIsNotOneElement) {
  constexpr Case kCases[] = {
      {"", "line 1, column 1: the text ends where a value should be\n  \n  ^"},
      {"a,b", "line 1, column 2: ',' found where the end should be\n  a,b\n   ^"},
      {"a}", "line 1, column 2: this '}' closes nothing\n  a}\n   ^"},
      {"[1", "line 1, column 3: the text ends where ',' or ']' should be\n  [1\n    ^"},
      {"'a' ", "line 1, column 4: ' ' found where the end should be\n  'a' \n     ^"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shape(parse_element(c.text)), c.shape) << c.text;
}

std::string nested(std::string_view open, std::string_view middle, std::string_view close,
                   std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += middle;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ParseText, BoundsHowDeepThingsNest) {
  EXPECT_TRUE(parse_text(nested("${", "a", "}", kMaxInterpolationDepth)));
  const Result<Expression> deep = parse_text(nested("${", "a", "}", 100000));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message(), "more than 200 nested levels");
  EXPECT_FALSE(parse_element(nested("[", "a", "]", 100000)));
  EXPECT_FALSE(parse_element(nested("{a: ", "a", "}", 100000)));
  EXPECT_FALSE(parse_text(nested("${f:'", "a", "'}", 100000)));
}

// Names that contain calls that contain names: reading them twice per level would take 2^100 steps.
TEST(ParseText, ReadsNestedNamesOnce) {
  EXPECT_TRUE(parse_text(nested("${", "a", ":}", 100)));
}

TEST(ParseText, TakesLongTexts) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "$\\a${b}";
  const Result<Expression> parsed = parse_text(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(std::get<Text>(parsed->form).parts.size(), 40000U);
}

TEST(PlaceInText, CountsCharacters) {
  const TextPlace place = place_in_text("aé\nbé€x\nc", 10);
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 4U);
  EXPECT_EQ(place.content, "bé€x");
  EXPECT_EQ(line_of("a\nb\n", 2), "b");
  EXPECT_EQ(line_of("a\nb\n", 3), "");
}

}  // namespace
}  // namespace profline::config
