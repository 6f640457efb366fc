#include "tools/nsys/contents.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/nsys_export.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::nsys {
namespace {

TEST(NsysContents, AreCounted) {
  const testing::TempDir folder;
  const auto file = folder / "run.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(file, {.kernels = 240}));
  const auto contents = count_contents(file, "decode@*");
  ASSERT_TRUE(contents) << contents.error().to_string();
  EXPECT_EQ(contents->kernels, 240U);
  EXPECT_EQ(contents->instances, 1U);
  EXPECT_EQ(contents->still_open, 0U);
  EXPECT_GT(contents->cuda_calls, 240U);
  const auto steps = count_contents(file, "decode_step");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->instances, 2U);
  EXPECT_EQ(count_contents(file, "prefill")->instances, 0U);
}

TEST(NsysContents, OfARealCaptureOfAnH200) {
  const auto file = testing::shared_dir() / "fixtures/h200/nsys-decode.sqlite";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  const auto contents = count_contents(file, "decode");
  ASSERT_TRUE(contents) << contents.error().to_string();
  EXPECT_GT(contents->kernels, 0U);
  EXPECT_GT(contents->instances, 0U);
}

TEST(NsysContents, OfWhatIsNoDatabaseAreAnError) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "run.sqlite", "no database at all, and long enough"));
  EXPECT_FALSE(count_contents(folder / "run.sqlite", ""));
  EXPECT_FALSE(count_contents(folder / "absent.sqlite", ""));
}

}  // namespace
}  // namespace profline::nsys
