#include "report/svg/charts.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/svg/internal/plot.h"
#include "testing/paths.h"
#include "tools/ncu/csv_reader.h"

namespace profline::svg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

settings::Ceilings h200() {
  settings::Ceilings ceilings;
  ceilings.device = "NVIDIA H200";
  ceilings.bytes_per_second = 4.8e12;
  ceilings.rates = {
      {settings::Cores::Tensor, settings::Precision::Bf16, settings::Accumulation::Fp32, 989.5e12},
      {settings::Cores::Vector, settings::Precision::Fp32, settings::Accumulation::Fp32, 67e12}};
  return ceilings;
}

/// Kernels of a real capture.
std::vector<roofline::CountedKernel> real_rows() {
  const auto report =
      ncu::load_csv(testing::source_dir() / "tests/golden/ncu/2025.3-raw-known-work/input.csv", {});
  EXPECT_TRUE(report);
  std::vector<roofline::CountedKernel> rows;
  if (!report) return rows;
  for (roofline::KernelMean& mean : roofline::mean_kernels(*report)) {
    rows.push_back(roofline::make_row(*report, std::move(mean), "k" + std::to_string(rows.size()),
                                      h200(), {}));
  }
  return rows;
}

TEST(Svg, EscapesWhatItIsGiven) {
  EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escaped("x\x01\xFFy\n"), "x\xEF\xBF\xBD\xEF\xBF\xBDy\n");
  EXPECT_EQ(escaped("a\xE2\x80\xAE"
                    "b"),
            "a\\u202eb");
  Picture picture(10, 10, "</title><script>");
  picture.text({1, 2}, "<b>", "small");
  EXPECT_THAT(picture.finish(), Not(HasSubstr("<script>")));
  EXPECT_THAT(picture.finish(), HasSubstr("&lt;b&gt;"));
}

TEST(Svg, ShortensByCharacters) {
  EXPECT_EQ(shortened("kernel", 6), "kernel");
  EXPECT_EQ(shortened("kernels", 6), "kerne…");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
}

TEST(Scale, HasRoundTicks) {
  std::vector<std::string> labels;
  for (const Scale::Tick& tick : Scale::linear(0, 100, 0, 1).ticks()) labels.push_back(tick.label);
  EXPECT_THAT(labels, ElementsAre("0", "20", "40", "60", "80", "100"));
  labels.clear();
  for (const Scale::Tick& tick : Scale::decades(3e11, 9e14, 0, 1).ticks()) {
    if (!tick.label.empty()) labels.push_back(tick.label);
  }
  EXPECT_THAT(labels, ElementsAre("100 G", "1 T", "10 T", "100 T", "1 P"));
  EXPECT_GT(Scale::linear(5, 5, 0, 1).high(), 5);
}

TEST(Scale, PutsValuesBetweenItsEnds) {
  const Scale logarithmic = Scale::decades(1, 100, 10, 30);
  EXPECT_NEAR(logarithmic.at(10), 20, 1e-9);
  EXPECT_EQ(logarithmic.at(1e9), 30);
  EXPECT_EQ(Scale::linear(0, 100, 470, 50).at(50), 260);
}

TEST(Charts, DrawEveryKernelThatHasAPoint) {
  const std::vector<roofline::CountedKernel> rows = real_rows();
  ASSERT_EQ(rows.size(), 4U);
  const std::string physical = physical_roofline(rows, h200(), "four");
  EXPECT_EQ(count(physical, "r=\"9\""), 4U);
  EXPECT_THAT(physical, HasSubstr("tensor bf16  990 TFLOP/s"));
  EXPECT_THAT(physical, HasSubstr("vector fp32  67.0 TFLOP/s"));
  EXPECT_THAT(physical, HasSubstr("ridge 206 FLOP/B"));
  EXPECT_THAT(physical, Not(HasSubstr("nan")));
  const std::string normalised = normalised_roofline(rows, 5, "four");
  EXPECT_EQ(count(normalised, "r=\"9\""), 4U);
}

TEST(Charts, SayWhatTheyCannotDraw) {
  std::vector<roofline::CountedKernel> rows(1);
  rows[0].id = "kernel_0001_<x>";
  const std::string physical = physical_roofline(rows, {}, "none");
  EXPECT_THAT(physical, HasSubstr("no ceilings are known for this device"));
  EXPECT_THAT(physical, HasSubstr("kernel_0001_&lt;x&gt; (nothing captured)"));
  EXPECT_THAT(normalised_roofline(rows, 5, "none"), HasSubstr("(no shares)"));
  EXPECT_THAT(physical_roofline({}, {}, "nothing"), Not(HasSubstr("nan")));
}

TEST(Charts, CountKernelsInBins) {
  const roofline::Histogram two{"duration_us", {{0, 1, 3}, {1, 2, 0}, {2, 3, 1}}};
  const std::string picture = histogram(two);
  EXPECT_EQ(count(picture, "class=\"bar\""), 2U);
  EXPECT_THAT(picture, HasSubstr("<title>0 to 1: 3</title>"));
}

}  // namespace
}  // namespace profline::svg
