#include "workloads/program/adapter_start.h"

#include <vector>

#include <gtest/gtest.h>

namespace profline::program {
namespace {

using Words = std::vector<std::string>;

std::string why(const Words& command, const Words& processes = {}, bool has_started = false) {
  Recording recording;
  recording.adapter_started = has_started;
  return why_not_adapted(command, processes, recording).value_or(NotAdapted{}).why;
}

const std::string kUnknown =
    "profline's Python adapter did not start: PYTHONPATH was replaced, or Python was started with "
    "-E, -I or -S or is older than 3.9";

TEST(WhyNotAdapted, NamesTheOptionOfPython) {
  struct Case {
    Words command;
    std::string option;
  };
  const Case cases[] = {
      {{"python3", "-I", "x.py"}, "-I"},
      {{"/usr/bin/python3.11", "-u", "-BE", "x.py"}, "-E"},
      {{"env", "A=1", "taskset", "-c", "1", "python", "-W", "error", "-S", "x.py"}, "-S"},
      {{"python3", "--check-hash-based-pycs", "never", "-X", "dev", "-S", "-m", "x"}, "-S"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.command.back());
    EXPECT_EQ(why(c.command), "Python was started with " + c.option +
                                  ", so profline's Python adapter did not start");
  }
}

TEST(WhyNotAdapted, NamesWhatElseItCanBe) {
  const Words commands[] = {
      {"python3", "x.py", "-I"},      {"python3", "-c", "print(1)", "-S"},
      {"python3", "-mIES"},           {"python3", "-WI", "x.py"},
      {"python3", "-X", "S", "x.py"}, {"python3", "-", "-S"},
      {"python3", "--version"},       {"python3"},
  };
  for (const Words& command : commands) {
    SCOPED_TRACE(command.back());
    EXPECT_EQ(why(command), kUnknown);
  }
  EXPECT_EQ(why({"./start.sh"}, {"sh", "python3.12"}), kUnknown);
}

TEST(WhyNotAdapted, IsNothingIfItStartedOrThereIsNoPython) {
  EXPECT_EQ(why({"python3", "-I", "x.py"}, {"python3"}, true), "");
  EXPECT_EQ(why({"./a.out", "-I"}, {"a.out", "python3-config", "pythonic"}), "");
  EXPECT_EQ(why({}), "");
}

}  // namespace
}  // namespace profline::program
