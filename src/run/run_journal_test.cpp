#include "run/run_journal.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/files.h"
#include "run/run.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline::run {
namespace {

RunRecord record_with(std::vector<StageState> states) {
  RunRecord record;
  record.id = "r";
  record.state = RunState::Running;
  const char* names[] = {"static_analysis", "baseline", "nsys"};
  for (std::size_t i = 0; i < states.size(); ++i) {
    record.stages.emplace_back();
    record.stages.back().name = names[i];
    record.stages.back().state = states[i];
  }
  return record;
}

/// What run.json says after an interrupt has ended the program with this record on disk.
RunRecord interrupted(const RunRecord& record) {
  const testing::TempDir folder;
  const std::string said = testing::in_child([&]() -> std::string {
    RunJournal journal(folder.path(), record);
    if (!journal.save()) return "cannot save";
    journal.record().experiment = "not saved, and another thread's";
    undo_unfinished_work();
    return std::filesystem::exists(folder / ".reserve") ? "the reserve is left" : "";
  });
  EXPECT_EQ(said, "");
  const auto left = read_record(folder.path());
  EXPECT_TRUE(left) << left.error().to_string();
  EXPECT_EQ(left->experiment, "");
  return left.value();
}

TEST(RunJournal, SaysThatAnInterruptCameWhileACaptureWasRead) {
  const RunRecord left =
      interrupted(record_with({StageState::Ok, StageState::Running, StageState::Pending}));
  EXPECT_EQ(left.state, RunState::Interrupted);
  EXPECT_EQ(left.exit_code, 130);
  EXPECT_FALSE(left.ended.empty());
  EXPECT_EQ(left.stages[0].state, StageState::Ok);
  EXPECT_EQ(left.stages[1].state, StageState::Interrupted);
  EXPECT_EQ(left.stages[2].state, StageState::Pending);
  ASSERT_EQ(left.stages[1].findings.size(), 1U);
  EXPECT_EQ(left.stages[1].findings[0].code, "interrupted");
  EXPECT_EQ(left.stages[1].findings[0].text,
            "interrupted while profline was processing its captures");
  EXPECT_TRUE(left.findings.empty());
}

TEST(RunJournal, SaysThatAnInterruptCameWhileReportsWereWritten) {
  RunRecord record = record_with({StageState::Ok, StageState::Off});
  record.state = RunState::Ok;
  const RunRecord left = interrupted(record);
  EXPECT_EQ(left.state, RunState::Interrupted);
  EXPECT_EQ(left.stages[0].state, StageState::Ok);
  ASSERT_EQ(left.findings.size(), 1U);
  EXPECT_EQ(left.findings[0].text, "interrupted before all reports were written");
  EXPECT_EQ(left.findings[0].fix, "profline report writes them");
}

TEST(RunJournal, LeavesARecordThatIsFinal) {
  RunRecord record = record_with({StageState::Ok});
  record.state = RunState::Ok;
  record.exit_code = 0;
  EXPECT_EQ(interrupted(record).state, RunState::Ok);
}

}  // namespace
}  // namespace profline::run
