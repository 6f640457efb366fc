#include "schema/codec.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/internal/example_for_tests.h"
#include "schema/read.h"

namespace profline::schema {

/// A type with a codec of its own: `2x3`.
struct Grid {
  int columns = 1;
  int rows = 1;
  bool operator==(const Grid&) const = default;
};

template <>
struct Codec<Grid> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) { return "grid such as 2x3"; }
  static void read(const Node& node, Grid& value, Reader& reader) {
    const std::string& text = node.as_string();
    if (text.size() == 3 && text[1] == 'x') {
      value = {text[0] - '0', text[2] - '0'};
    } else {
      reader.mismatch(node);
    }
  }
  static Node write(const Grid& value) {
    return Node::string(std::to_string(value.columns) + 'x' + std::to_string(value.rows));
  }
};

namespace {

using testing::list;
using testing::Tree;

/// The problem with reading `tree` as a T; empty if there is no problem.
template <typename T>
std::string problem_of(const Tree& tree) {
  const Result<T> value = read<T>(tree.node());
  return value ? std::string() : value.error().to_string();
}

template <typename T>
std::string type_text(const Limits& limits = {}) {
  return type_of<T>().text(limits);
}

/// Checks that reading gives `value`, and that writing it gives the tree again.
template <typename T>
void expect_same(const Tree& tree, const T& value) {
  const Result<T> got = read<T>(tree.node());
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(*got, value);
  EXPECT_EQ(write(value), tree.node());
}

TEST(Booleans, AreNothingElse) {
  expect_same(true, true);
  expect_same(false, false);
  EXPECT_EQ(problem_of<bool>(1), "must be a boolean, not the integer 1");
  EXPECT_EQ(problem_of<bool>("true"), "must be a boolean, not the string 'true'");
  EXPECT_EQ(problem_of<bool>(nullptr), "must be a boolean, not null");
}

TEST(Integers, AreNeitherFloatsNorBooleansNorStrings) {
  expect_same(-7, -7);
  EXPECT_EQ(problem_of<int>(1.0), "must be an integer, not the float 1.0");
  EXPECT_EQ(problem_of<int>(true), "must be an integer, not the boolean true");
  EXPECT_EQ(problem_of<int>("3"), "must be an integer, not the string '3'");
  EXPECT_EQ(problem_of<int>(nullptr), "must be an integer, not null");
  EXPECT_EQ(problem_of<int>(list({})), "must be an integer, not a list");
  EXPECT_EQ(problem_of<int>(Node::map()), "must be an integer, not a map");
  EXPECT_EQ(problem_of<int>(Node::bytes("ab")), "must be an integer, not bytes");
}

template <typename T>
void expect_range(const std::string& below, const std::string& above, const std::string& range) {
  expect_same(write(std::numeric_limits<T>::min()), std::numeric_limits<T>::min());
  expect_same(write(std::numeric_limits<T>::max()), std::numeric_limits<T>::max());
  const auto number = [](const std::string& digits) {
    return digits.size() > 18 ? Node::big_integer(digits) : Node::integer(std::stoll(digits));
  };
  EXPECT_EQ(problem_of<T>(number(above)), "must be an integer " + range + ", not " + above);
  EXPECT_EQ(problem_of<T>(number(below)),
            "must be an integer " + (std::is_unsigned_v<T> && sizeof(T) > 2 ? ">= 0" : range) +
                ", not " + below);
}

TEST(Integers, OfEveryWidthKeepToTheirRange) {
  expect_range<std::int8_t>("-129", "128", "from -128 to 127");
  expect_range<std::uint8_t>("-1", "256", "from 0 to 255");
  expect_range<std::int16_t>("-32769", "32768", "from -32768 to 32767");
  expect_range<std::uint16_t>("-1", "65536", "from 0 to 65535");
  expect_range<std::int32_t>("-2147483649", "2147483648", "from -2147483648 to 2147483647");
  expect_range<std::uint32_t>("-1", "4294967296", "from 0 to 4294967295");
  expect_range<std::int64_t>("-9223372036854775809", "9223372036854775808",
                             "from -9223372036854775808 to 9223372036854775807");
  expect_range<std::uint64_t>("-1", "18446744073709551616", "from 0 to 18446744073709551615");
}

TEST(Integers, BelowInt64DoNotBecomeUnsigned) {
  EXPECT_EQ(problem_of<std::uint64_t>(Node::big_integer("-9223372036854775809")),
            "must be an integer from 0 to 18446744073709551615, not -9223372036854775809");
}

TEST(Numbers, TakeIntegersAndFloats) {
  expect_same(0.5, 0.5);
  EXPECT_EQ(*read<double>(Node::integer(3)), 3.0);
  EXPECT_EQ(*read<double>(Node::big_integer("18446744073709551616")), 18446744073709551616.0);
  EXPECT_EQ(*read<double>(Node::big_integer('-' + std::string(400, '9'))),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(problem_of<double>(std::nan("")), "must be a number, not .nan");
  EXPECT_EQ(problem_of<double>(true), "must be a number, not the boolean true");
}

TEST(Strings, AreNotMadeFromNumbers) {
  expect_same("a b", std::string("a b"));
  EXPECT_EQ(problem_of<std::string>(5), "must be a string, not the integer 5");
  expect_same("a/b.txt", std::filesystem::path("a/b.txt"));
  EXPECT_EQ(problem_of<std::filesystem::path>(0.5), "must be a path, not the float 0.5");
}

TEST(Strings, AreCutAndEscapedInMessages) {
  const std::string text = "line\n\x01'" + std::string(52, 'x') + "éé";
  EXPECT_EQ(problem_of<int>(Node::string(text)),
            "must be an integer, not the string 'line\\n\\u0001\\'" + std::string(52, 'x') + "'…");
}

TEST(Durations, AreNumbersOfSeconds) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  using Exact = std::chrono::duration<double>;
  expect_same(600, seconds(600));
  expect_same(0.25, milliseconds(250));
  expect_same(1.001, milliseconds(1001));
  expect_same(2, milliseconds(2000));
  expect_same(-3, milliseconds(-3000));
  expect_same(0.1, nanoseconds(100'000'000));
  expect_same(7200, hours(2));
  expect_same(0.125, Exact(0.125));
  EXPECT_EQ(*read<seconds>(Node::real(60.0)), seconds(60));
  EXPECT_EQ(problem_of<seconds>(0.5), "must be a whole number of seconds, not 0.5");
  EXPECT_EQ(problem_of<milliseconds>(0.0005),
            "must be a number of seconds in steps of 0.001, not 0.0005");
  EXPECT_EQ(problem_of<hours>(1800), "must be a number of seconds in steps of 3600, not 1800");
  EXPECT_EQ(problem_of<seconds>("5s"), "must be a whole number of seconds, not the string '5s'");
  EXPECT_EQ(problem_of<Exact>(std::nan("")), "must be a number of seconds, not .nan");
  EXPECT_EQ(problem_of<nanoseconds>(std::int64_t{1} << 60),
            "must be a number of seconds below 9223372036.854776, not 1152921504606846976");
  EXPECT_EQ(problem_of<seconds>(std::numeric_limits<double>::infinity()),
            "must be a number of seconds below 9.223372036854776e+18, not .inf");
}

TEST(Durations, TooLongForAnIntegerOfSecondsAreWrittenAsFloats) {
  EXPECT_EQ(write(std::chrono::hours(std::numeric_limits<std::int64_t>::max())),
            Node::real(9223372036854775807.0 * 3600.0));
}

TEST(Optionals, AreNullOrAValue) {
  expect_same(nullptr, std::optional<int>());
  expect_same(3, std::optional<int>(3));
  EXPECT_EQ(problem_of<std::optional<int>>("x"), "must be an integer or null, not the string 'x'");
  EXPECT_EQ(type_text<std::optional<std::vector<std::string>>>(), "list of string or null");
}

TEST(Lists, NameTheItemAtFault) {
  expect_same(list({1, 2}), std::vector<int>{1, 2});
  expect_same(list({true, false}), std::vector<bool>{true, false});
  expect_same(list({}), std::vector<std::string>());
  EXPECT_EQ(problem_of<std::vector<int>>(list({1, "x", nullptr})),
            "1: must be an integer, not the string 'x'\n"
            "2: must be an integer, not null");
  EXPECT_EQ(problem_of<std::vector<int>>(1), "must be a list of integer, not the integer 1");
  EXPECT_EQ(type_text<std::vector<std::optional<int>>>(), "list of (integer or null)");
  EXPECT_EQ(type_text<std::vector<example::Activity>>(), "list of (one of cpu, cuda)");
}

TEST(Maps, NameTheEntryAtFault) {
  using Map = std::map<std::string, int>;
  expect_same(Tree{{"a", 1}, {"b", 2}}, Map{{"a", 1}, {"b", 2}});
  EXPECT_EQ(problem_of<Map>(Tree{{"a", "x"}, {7, 1}, {"b", 1.5}}),
            "a: must be an integer, not the string 'x'\n"
            "a key must be a string, not the integer 7\n"
            "b: must be an integer, not the float 1.5");
  EXPECT_EQ(problem_of<Map>("x"), "must be a map from name to integer, not the string 'x'");
}

TEST(Variants, AreDecidedByTheKindOfTheNode) {
  using Either = std::variant<bool, example::Activity, std::vector<int>>;
  expect_same(true, Either(true));
  expect_same("cuda", Either(example::Activity::Cuda));
  expect_same(list({4}), Either(std::vector<int>{4}));
  EXPECT_EQ(problem_of<Either>(3),
            "must be a boolean or one of cpu, cuda or list of integer, not the integer 3");
  EXPECT_EQ(problem_of<Either>("coda"),
            "must be a boolean or one of cpu, cuda or list of integer, not 'coda' (did you mean "
            "'cuda'?)");
}

enum class Dtype { Bf16, Fp16 };
constexpr auto names(std::type_identity<Dtype>) {
  return std::array{named(Dtype::Bf16, "bf16"), named(Dtype::Bf16, "bfloat16"),
                    named(Dtype::Fp16, "fp16"), named(Dtype::Fp16, "float16")};
}

TEST(Enums, AreReadByAnyNameAndWrittenByTheFirst) {
  expect_same("fp16", Dtype::Fp16);
  EXPECT_EQ(*read<Dtype>(Node::string("bfloat16")), Dtype::Bf16);
  EXPECT_EQ(name_of(Dtype::Bf16), "bf16");
  EXPECT_EQ(problem_of<Dtype>("int4"), "must be one of bf16, bfloat16, fp16, float16, not 'int4'");
  EXPECT_EQ(problem_of<Dtype>("BF16"),
            "must be one of bf16, bfloat16, fp16, float16, not 'BF16' (did you mean 'bf16'?)");
  EXPECT_EQ(problem_of<Dtype>(16),
            "must be one of bf16, bfloat16, fp16, float16, not the integer 16");
  EXPECT_EQ(problem_of<std::optional<Dtype>>("x"),
            "must be one of bf16, bfloat16, fp16, float16 or null, not 'x'");
}

TEST(Enums, MayHaveBooleansForNames) {
  expect_same(true, example::Enable::Yes);
  expect_same(false, example::Enable::No);
  expect_same("auto", example::Enable::Auto);
  EXPECT_EQ(name_of(example::Enable::Yes), "true");
  EXPECT_EQ(problem_of<example::Enable>("false"),
            "must be one of true, false, auto, not 'false' (without quotes)");
}

TEST(Enums, WithoutBooleansRefuseThem) {
  EXPECT_EQ(problem_of<example::Activity>(true), "must be one of cpu, cuda, not the boolean true");
}

TEST(TextLists, AreAListOrOneString) {
  expect_same(list({"a", "b"}), CommaList{{"a", "b"}});
  EXPECT_EQ(*read<CommaList>(Node::string(" a , b")), (CommaList{{"a", "b"}}));
  EXPECT_EQ(*read<SemicolonList>(Node::string("a,b;c")), (SemicolonList{{"a,b", "c"}}));
  EXPECT_EQ(*read<OneOrMore>(Node::string("a,b;c")), (OneOrMore{{"a,b;c"}}));
  EXPECT_EQ(*read<CommaList>(Node::string("  ")), CommaList{});
  EXPECT_EQ(problem_of<CommaList>("a,"), "has an empty item: 'a,'");
  EXPECT_EQ(problem_of<CommaList>(list({"a", 1})), "1: must be a string, not the integer 1");
  EXPECT_EQ(problem_of<std::optional<CommaList>>(5),
            "must be a list of string or ','-separated string or null, not the integer 5");
  EXPECT_EQ(type_text<OneOrMore>(), "string or list of string");
}

TEST(FreeNodes, AreKeptAsTheyAre) {
  expect_same(Tree{{"a", list({1, nullptr})}, {2, "b"}},
              Tree{{"a", list({1, nullptr})}, {2, "b"}}.node());
  expect_same(nullptr, Node());
}

TEST(OwnCodecs, TakePartLikeAnyOther) {
  expect_same("2x3", Grid{2, 3});
  expect_same(list({"2x3"}), std::vector<Grid>{{2, 3}});
  EXPECT_EQ(problem_of<std::optional<Grid>>("2by3"),
            "must be a grid such as 2x3 or null, not '2by3'");
}

struct Bounded {
  int exact = 5;
  std::int32_t above = 5;
  double share = 0.5;
  std::vector<int> each{2};
  std::map<std::string, double> by_name;
  std::optional<std::chrono::milliseconds> pause;
  std::uint64_t large = 7;
  bool operator==(const Bounded&) const = default;
};
constexpr auto fields(std::type_identity<Bounded>) {
  return field_list(field("exact", &Bounded::exact, "x").range(5, 6),
                    field("above", &Bounded::above, "x").above(0),
                    field("share", &Bounded::share, "x").range(0, 1.5),
                    field("each", &Bounded::each, "x").at_least(2),
                    field("by_name", &Bounded::by_name, "x").at_most(-0.5),
                    field("pause", &Bounded::pause, "x").range(0.5, 2),
                    field("large", &Bounded::large, "x").at_least(7));
}

TEST(LimitsOfAField, HoldForEveryNumberInIt) {
  EXPECT_EQ(problem_of<Bounded>(Tree{{"exact", 5},
                                     {"share", 1.5},
                                     {"each", list({2, 3})},
                                     {"by_name", Tree{{"a", -1}}},
                                     {"pause", 0.5},
                                     {"large", Node::big_integer("18446744073709551615")}}),
            "");
  EXPECT_EQ(problem_of<Bounded>(Tree{{"exact", 7},
                                     {"above", 0},
                                     {"share", 1.6},
                                     {"each", list({2, 1})},
                                     {"by_name", Tree{{"a", 0}}},
                                     {"pause", 3},
                                     {"large", 6}}),
            "exact: must be an integer from 5 to 6, not 7\n"
            "above: must be an integer > 0, not 0\n"
            "share: must be a number from 0 to 1.5, not 1.6\n"
            "each.1: must be an integer >= 2, not 1\n"
            "by_name.a: must be a number <= -0.5, not 0\n"
            "pause: must be a number of seconds from 0.5 to 2 or null, not 3\n"
            "large: must be an integer >= 7, not 6");
  EXPECT_EQ(problem_of<Bounded>(Tree{{"above", std::int64_t{3'000'000'000}}}),
            "above: must be an integer > 0 and <= 2147483647, not 3000000000");
}

}  // namespace
}  // namespace profline::schema
