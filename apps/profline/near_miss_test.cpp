#include <gtest/gtest.h>

#include "arguments.h"

namespace profline {
namespace {

using Words = std::vector<std::string>;

const std::vector<Option> kOptions = {
    {"--config-name", "-cn", Option::Takes::Value, "NAME", ""},
    {"--dry-run", "", Option::Takes::Nothing, "", ""},
};

std::string message(const Words& arguments) {
  const NearMissRules rules{kOptions,
                            {"run", "plan", "demo", "trace", "kernels"},
                            [](const std::string& word) { return word == "python3"; }};
  const auto error = program_without_dashes(arguments, rules);
  return error ? error->to_string() : "";
}

TEST(ProgramWithoutDashes, IsShownWhereItBelongs) {
  struct Case {
    Words arguments;
    std::string_view expected;
  };
  const Case cases[] = {
      {{"python3", "x.py"},
       "'python3' is not a command; to profile a program: profline run -- python3 x.py"},
      {{"python3", "x.py", "--batch", "4"},
       "'python3' is not a command; to profile a program: profline run -- python3 x.py --batch 4"},
      {{"run", "python3", "x.py"},
       "'python3' is not an override (KEY=VALUE); to profile a program: profline run -- python3 "
       "x.py"},
      {{"run", "x.py"},
       "'x.py' is not an override (KEY=VALUE); to profile a program: profline run -- python3 x.py"},
      {{"plan", "device=cpu", "-cn", "mine", "bench.sh", "a b"},
       "'bench.sh' is not an override (KEY=VALUE); to profile a program: profline plan device=cpu "
       "-cn mine -- sh bench.sh 'a b'"},
      {{"./a.out"}, "'./a.out' is not a command; to profile a program: profline run -- ./a.out"},
      {{"device=cpu", "./a.out"},
       "'./a.out' is not a command; to profile a program: profline run device=cpu -- ./a.out"},
      {{"run", "python3", "--", "x.py"},
       "'python3' is not an override (KEY=VALUE); to profile a program: profline run -- python3 "
       "x.py"},
      {{"run", "python3", "x.py", "--", "y"},
       "'python3' is not an override (KEY=VALUE); to profile a program: profline run -- python3 "
       "x.py -- y"},
      {{"profile", "python3", "x.py"},
       "'profile' is not a command; to profile a program: profline run -- python3 x.py"},
      {{"-cn", "mine", "start", "device=cpu", "x.py", "--", "3"},
       "'start' is not a command; to profile a program: profline run -cn mine device=cpu -- "
       "python3 x.py 3"},
      {{"profile", "--", "./a.out", "--x"},
       "'profile' is not a command; to profile a program: profline run -- ./a.out --x"},
  };
  for (const Case& c : cases) EXPECT_EQ(message(c.arguments), c.expected);
}

TEST(ProgramWithoutDashes, IsNotSeenInOtherLines) {
  for (const Words& arguments :
       {Words{"run", "device=cpu"}, Words{"run", "--", "./a.out"}, Words{"trace", "./a.json"},
        Words{"kernels", "profile", "python3"}, Words{"rnu"}, Words{"run", "devcie"}, Words{},
        Words{"run", "--config-name", "python3"}, Words{"run", "--unknown", "python3"},
        Words{"run", "--config-name", "--", "python3", "x.py"}, Words{"profile"},
        Words{"profile", "--"}, Words{"profile", "that", "python3"}, Words{"profile", "./no.json"},
        Words{"rnu", "python3", "x.py"}, Words{"trce", "x.py"}}) {
    EXPECT_EQ(message(arguments), "") << ::testing::PrintToString(arguments);
  }
}

std::string placed(Words words, std::optional<Words> program, std::string_view verb) {
  Arguments given;
  given.words = std::move(words);
  given.program = std::move(program);
  const auto error = misplaced_program(given, verb);
  return error ? error->to_string() : "";
}

TEST(MisplacedProgram, IsReportedWithTheRightLine) {
  EXPECT_EQ(placed({}, Words{}, "run"),
            "no program follows '--'; name it, as in: profline run -- python3 infer.py");
  EXPECT_EQ(placed({}, Words{"python3", "x.py"}, ""),
            "no command comes before '--'; to profile a program: profline run -- python3 x.py");
  EXPECT_EQ(placed({"device=cpu"}, Words{"./a"}, "demo"),
            "'profline demo' runs the built-in model only; to profile a program: profline run "
            "device=cpu -- ./a");
  EXPECT_EQ(placed({"++pipeline.workload.command=[x]"}, Words{"./a"}, "plan"),
            "the program is named twice: by pipeline.workload.command and after '--'; leave one "
            "out");
  EXPECT_EQ(placed({"device=cpu"}, Words{"./a"}, "run"), "");
  EXPECT_EQ(placed({"device=cpu"}, std::nullopt, ""), "");
}

}  // namespace
}  // namespace profline
