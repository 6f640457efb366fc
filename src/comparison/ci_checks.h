#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comparison/comparison.h"

/// Results as CI systems show them.
namespace profline::comparison {

/// One line of a test report.
struct Check {
  enum class Outcome { Passed, Failed, Undecided };

  std::string group;  ///< `metric`, `phase`
  std::string name;
  Outcome outcome = Outcome::Passed;
  std::string text;  ///< what was found, in one line
};

/// Rows with a verdict: SLOWER rows that count fail, and UNDECIDED ones are neither.
std::vector<Check> checks_of(const Comparison& comparison);

/// A test report in JUnit's XML, which most CI systems read. Undecided checks are skipped tests.
/// Names are untrusted text.
std::string junit_report(std::string_view suite, std::span<const Check> checks);

/// Workflow commands of GitHub Actions, one per line, that annotate the job: an error for each
/// failed check, a warning if nothing could be decided, and a notice about the rest.
std::string github_annotations(std::string_view title, std::span<const Check> checks);

}  // namespace profline::comparison
