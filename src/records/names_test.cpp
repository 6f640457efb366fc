#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "records/timeline.h"

namespace profline {
namespace {

TEST(Names, KeepEachTextOnceAndGiveItBack) {
  Names names;
  const Names::Id gemm = names.id_of("gemm");
  const Names::Id copy = names.id_of("copy");
  EXPECT_NE(gemm, copy);
  EXPECT_EQ(names.id_of("gemm"), gemm);
  EXPECT_EQ(names.text(gemm), "gemm");
  EXPECT_EQ(names.text(copy), "copy");
}

TEST(Names, AreFoundWithoutBeingAdded) {
  Names names;
  const Names::Id gemm = names.id_of("gemm");
  EXPECT_EQ(names.find("gemm"), gemm);
  EXPECT_EQ(names.find("copy"), std::nullopt);
  EXPECT_EQ(names.size(), 2U);
}

TEST(Names, HaveTheEmptyTextAsZero) {
  Names names;
  EXPECT_EQ(names.id_of(""), 0U);
  EXPECT_EQ(names.text(0), "");
  EXPECT_EQ(names.size(), 1U);
}

TEST(Names, StayGoodWhenThereAreManyAndWhenMoved) {
  Names names;
  const std::string& first = names.text(names.id_of("first"));
  for (int i = 0; i < 10'000; ++i) names.id_of("name " + std::to_string(i));
  EXPECT_EQ(first, "first");
  const Names::Id id = names.id_of("name 4711");
  Names moved = std::move(names);
  EXPECT_EQ(moved.id_of("name 4711"), id);
  EXPECT_EQ(moved.text(id), "name 4711");
}

}  // namespace
}  // namespace profline
