#include "workload/session/internal/repetition.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::workload {
namespace {

using profline::testing::TempDir;

/// A model that repeats its phases as the test says.
class Scripted final : public Subject {
 public:
  using Script = std::function<Result<std::vector<RepeatedPhase>>()>;
  explicit Scripted(Script script) : script_(std::move(script)) {}

  const std::vector<dataset::Item>& items() const override { return items_; }
  Result<void> warm_up(bool) override { return {}; }
  Result<Answer> run(Items, MeasuredScopes&, const Extent&) override { return Answer(); }
  Result<std::vector<RepeatedPhase>> repeat_phases(Items, std::chrono::nanoseconds,
                                                   const std::function<bool()>&) override {
    return script_();
  }

 private:
  Script script_;
  std::vector<dataset::Item> items_ = std::vector<dataset::Item>(1);
};

TEST(Repetition, WritesWhatWasRepeated) {
  const TempDir folder;
  Scripted subject([] { return std::vector<RepeatedPhase>{{"decode", 1, 2, 1, 300}}; });
  const auto failed = repeat_phases(subject, folder.path(), {});
  ASSERT_TRUE(failed) << failed.error().to_string();
  EXPECT_EQ(*failed, std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(folder / "repeated_phases.json"));
}

TEST(Repetition, SaysWhyItFailedSoThatTheRunIsKept) {
  const TempDir folder;
  for (const Scripted::Script& script : {
           Scripted::Script([] { return Error(ErrorKind::Tool, "CUDA out of memory"); }),
           Scripted::Script([]() -> Result<std::vector<RepeatedPhase>> {
             throw std::runtime_error("CUDA out of memory");
           }),
       }) {
    Scripted subject(script);
    const auto failed = repeat_phases(subject, folder.path(), {});
    ASSERT_TRUE(failed) << failed.error().to_string();
    ASSERT_TRUE(*failed);
    EXPECT_THAT(**failed, ::testing::HasSubstr("CUDA out of memory"));
    EXPECT_FALSE(std::filesystem::exists(folder / "repeated_phases.json"));
  }
}

TEST(Repetition, EndsIfTheUserWantsToStop) {
  const TempDir folder;
  Scripted subject([] { return Error(ErrorKind::Cancelled, "stopped"); });
  const auto failed = repeat_phases(subject, folder.path(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::Cancelled);
}

}  // namespace
}  // namespace profline::workload
