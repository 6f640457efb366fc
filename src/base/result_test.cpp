#include "base/result.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace profline {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(ErrorKind::Config, std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = PL_TRY(half(number));
  return PL_TRY(half(once).during("halving again"));
}

Result<void> check_even(int number) {
  PL_TRY(half(number));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).error().to_string(), "3 is odd");
  EXPECT_EQ(half(3).value_or(9), 9);
}

TEST(Result, TryPassesTheErrorOnWithItsHistory) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().to_string(), "halving again: 3 is odd");
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(5).error().to_string(), "5 is odd");
}

Result<int> eighth(int number) {
  return PL_TRY(half(PL_TRY(half(PL_TRY(half(number))))));
}

TEST(Result, TryStandsInsideAnotherTry) {
  EXPECT_EQ(*eighth(16), 2);
  EXPECT_EQ(eighth(12).error().to_string(), "3 is odd");
}

TEST(Result, CarriesTypesThatOnlyMove) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto use = [&]() -> Result<int> {
    const std::unique_ptr<int> owned = PL_TRY(make());
    return *owned;
  };
  EXPECT_EQ(*use(), 7);
}

TEST(Result, ConvertsWhatItsTypeCanBeMadeOf) {
  const auto text = []() -> Result<std::string> { return "literal"; };
  EXPECT_EQ(*text(), "literal");
}

TEST(ResultDeathTest, AskingForTheValueOfAnErrorIsABug) {
  EXPECT_DEATH(static_cast<void>(*half(3)), "value\\(\\) of a Result that holds an Error");
}

}  // namespace
}  // namespace profline
