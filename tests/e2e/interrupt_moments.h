#pragma once

#include <chrono>
#include <filesystem>
#include <random>
#include <string>

namespace profline::e2e {

/// Random moments, reproducible with the seed that `seed_text` names for the environment.
class Moments {
 public:
  Moments();

  /// How many moments to try: three, or ten in `make test-long` (PROFLINE_TEST_LONG=1).
  int count() const;
  /// A moment within the `part`-th of `parts` equal parts of a time.
  std::chrono::milliseconds within(std::chrono::milliseconds whole, int part, int parts);
  /// One of the parts.
  int one_of(int parts);
  /// "PROFLINE_TEST_SEED=…", for a SCOPED_TRACE.
  std::string seed_text() const;

 private:
  unsigned seed_;
  std::mt19937 random_;
};

/// Checks what must hold for the run in `folder / "run"` after an interrupt at any moment, given
/// that profline ended with `code`: an exit code, or minus a signal.
void expect_truth_after_interrupt(const std::filesystem::path& folder, int code);

}  // namespace profline::e2e
