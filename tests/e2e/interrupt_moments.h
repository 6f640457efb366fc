#pragma once

#include <chrono>
#include <filesystem>
#include <random>
#include <string>

namespace profline::e2e {

/// Moments drawn by chance, the same again with the seed that `told` names in the environment.
class Moments {
 public:
  Moments();

  /// One within the `part`-th of `parts` equal parts of a time.
  std::chrono::milliseconds within(std::chrono::milliseconds whole, int part, int parts);
  /// One of the parts.
  int one_of(int parts);
  /// "PROFLINE_TEST_SEED=…", for a SCOPED_TRACE.
  std::string told() const;

 private:
  unsigned seed_;
  std::mt19937 random_;
};

/// What may be said of the run in `folder / "run"` after an interrupt at whatever moment, when
/// profline ended with `code`: an exit code, or minus a signal.
void expect_truth_after_interrupt(const std::filesystem::path& folder, int code);

}  // namespace profline::e2e
