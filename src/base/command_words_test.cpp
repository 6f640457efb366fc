#include "base/command_words.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline {
namespace {

using Words = std::vector<std::string>;

TEST(ProgramWords, LeaveOutWhatOnlyStartsTheProgram) {
  const Words program = {"python3", "x.py", "-c", "4"};
  const Words starts[] = {
      {},
      {"env", "A=1", "B="},
      {"/usr/bin/env", "-u", "HOME", "-i"},
      {"taskset", "-c", "4,5"},
      {"taskset", "0x30"},
      {"taskset", "-c", "0-3"},
      {"timeout", "-k", "5", "10m"},
      {"nice", "-n", "5", "numactl", "--cpunodebind=0", "-m", "0"},
      {"nohup", "stdbuf", "-oL", "time"},
  };
  for (const Words& start : starts) {
    Words command = start;
    command.insert(command.end(), program.begin(), program.end());
    const auto found = program_words(command);
    EXPECT_EQ(Words(found.begin(), found.end()), program) << ::testing::PrintToString(command);
  }
}

TEST(ProgramWords, KeepWhatTheyDoNotUnderstand) {
  const Words cases[] = {{"env"}, {"taskset", "-p", "77"}, {}, {"./a=b/c"}, {"4.sh", "env"}};
  for (const Words& command : cases) {
    const auto found = program_words(command);
    EXPECT_EQ(Words(found.begin(), found.end()), command);
  }
}

}  // namespace
}  // namespace profline
