#include "interrupt_moments.h"

#include <signal.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run_folder.h"
#include "started_profline.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::IsEmpty;

unsigned seed() {
  const char* given = std::getenv("PROFLINE_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
}

/// Whether the state matches how profline ended. The signal itself ends it only before it has
/// started to handle signals and after it has stopped: with no record yet, or a final one.
bool fits(RunState state, int code) {
  if (code == -SIGINT) return state == RunState::Ok || state == RunState::Interrupted;
  return state == (code == 0 ? RunState::Ok : RunState::Interrupted);
}

}  // namespace

Moments::Moments() : seed_(seed()), random_(seed_) {}

int Moments::count() const {
  return std::getenv("PROFLINE_TEST_LONG") != nullptr ? 10 : 3;
}

milliseconds Moments::within(milliseconds whole, int part, int parts) {
  const milliseconds one = whole / parts;
  std::uniform_int_distribution<milliseconds::rep> inside(0, one.count());
  return part * one + milliseconds(inside(random_));
}

int Moments::one_of(int parts) {
  return std::uniform_int_distribution<int>(0, parts - 1)(random_);
}

std::string Moments::seed_text() const {
  return "PROFLINE_TEST_SEED=" + std::to_string(seed_);
}

void expect_truth_after_interrupt(const fs::path& folder, int code) {
  const std::string printed = read_file(folder / "err").value_or("");
  EXPECT_THAT(code, AnyOf(0, 130, -SIGINT)) << printed;
  EXPECT_THAT(processes_of(folder), IsEmpty());
  if (!fs::exists(folder / "run")) return;
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  if (!fs::exists(folder / "run/run.json")) return;
  const RunRecord record = record_of(folder / "run");
  EXPECT_TRUE(fits(record.state, code)) << to_text(record.state) << " and " << code << '\n'
                                        << printed;
  EXPECT_TRUE(code < 0 || record.exit_code == code) << code;
  for (const StageRecord& stage : record.stages) {
    EXPECT_THAT(stage.state, AnyOf(StageState::Off, StageState::Interrupted, StageState::Pending,
                                   StageState::Ok))
        << stage.name << '\n'
        << printed;
  }
}

}  // namespace profline::e2e
