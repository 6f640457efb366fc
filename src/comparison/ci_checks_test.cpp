#include "comparison/ci_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comparison/testing_measurements.h"

namespace profline::comparison {
namespace {

using Outcome = Check::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Check> kChecks = {
    {"metric", "token_ms", Outcome::Failed, "SLOWER: 2.00 ms to 2.20 ms, +10.0 %"},
    {"metric", "prefill_ms", Outcome::Undecided, "UNDECIDED: too few runs"},
    {"phase", "sam", Outcome::Passed, "SAME: 1.00 ms to 1.00 ms"},
};

TEST(AJunitReport, HasATestPerCheck) {
  EXPECT_EQ(junit_report("profline compare", kChecks),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" skipped="1" errors="0">
  <testsuite name="profline compare" tests="3" failures="1" skipped="1" errors="0">
    <testcase classname="profline compare.metric" name="token_ms">
      <failure message="SLOWER: 2.00 ms to 2.20 ms, +10.0 %"/>
    </testcase>
    <testcase classname="profline compare.metric" name="prefill_ms">
      <skipped message="UNDECIDED: too few runs"/>
    </testcase>
    <testcase classname="profline compare.phase" name="sam">
      <system-out>SAME: 1.00 ms to 1.00 ms</system-out>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Annotations, AreOnlyAboutWhatFailed) {
  EXPECT_EQ(github_annotations("profline", kChecks),
            "::error title=profline%3A token_ms::SLOWER: 2.00 ms to 2.20 ms, +10.0 %25\n");
  const std::vector<Check> undecided = {kChecks[1]};
  EXPECT_EQ(github_annotations("profline", undecided),
            "::warning title=profline::nothing could be decided: UNDECIDED: too few runs\n");
  const std::vector<Check> good = {kChecks[1], kChecks[2]};
  EXPECT_EQ(github_annotations("profline", good),
            "::notice title=profline::no regression in 2 metrics; 1 undecided\n");
}

TEST(Annotations, AndReportsKeepHostileNamesInert) {
  for (const std::string& name : hostile_names()) {
    const std::vector<Check> checks = {{name, name, Outcome::Failed, name}};
    const std::string xml = junit_report(name, checks);
    EXPECT_THAT(xml, Not(HasSubstr("<script"))) << name;
    EXPECT_THAT(xml, Not(HasSubstr("]]>"))) << name;
    const std::string commands = github_annotations(name, checks);
    EXPECT_EQ(commands.find('\n'), commands.size() - 1) << name;
    EXPECT_EQ(commands.find('\x1b'), std::string::npos) << name;
  }
}

TEST(Checks, OfAComparisonFailOnlyForRegressions) {
  Comparison found;
  Row row;
  row.name = row.short_name = "token_ms";
  row.unit = "ms";
  row.a = row.b = Amount();
  row.a->value = 2;
  row.b->value = 3;
  row.change = 0.5;
  row.verdict = Verdict::Slower;
  found.rows = {row};
  EXPECT_EQ(checks_of(found).at(0).outcome, Outcome::Passed);  // a row of a profiler
  found.regressions = {"token_ms"};
  EXPECT_EQ(checks_of(found).at(0).outcome, Outcome::Failed);
  EXPECT_EQ(checks_of(found).at(0).text, "SLOWER: 2.00 ms to 3.00 ms, +50.0 %");
  found.rows[0].verdict = Verdict::Undecided;
  EXPECT_EQ(checks_of(found).at(0).outcome, Outcome::Undecided);
  found.rows[0].verdict.reset();
  EXPECT_TRUE(checks_of(found).empty());
}

}  // namespace
}  // namespace profline::comparison
