#include <gmock/gmock.h>

#include "session/configuration.h"
#include "settings/root.h"

namespace profline::session {
namespace {

using Words = std::vector<std::string>;

/// The program of a config composed with these words.
Result<Words> composed(const Words& words, const std::string& config = kProgramConfig) {
  const auto configuration = PL_TRY(Configuration::compose(
      {.name = config, .overrides = {"device=cpu", program_override(words)}}));
  config::Resolution resolution(configuration->composition().config, configuration->context());
  const settings::Root settings = PL_TRY(settings::read_settings(PL_TRY(resolution.resolve_all())));
  return settings.pipeline.workload.user_command().value_or(Words{});
}

TEST(ProgramWords, ReachTheProgramUnchanged) {
  const Words programs[] = {
      {"python3", "infer.py", "--batch", "4"},
      {"./a.out"},
      {"x", "", " ", "a b", "a,b", "[1,2]", "{a: 1}", "a=b", "null", "true", "1e3", "~a", "+a=1"},
      {"x", "'", "\"", "it's", "'\"'", "\\", "\\\\", "a\\", "\\'", "\\\"", "a\\'b"},
      {"x", "${HOME}", "$HOME", "\\${HOME}", "\\\\${a}", "${", "a${b}${c}", "$${x}", "\\n${x}\\"},
      {"x", "line\nline", "\ttab", "# no comment", "grün", "日本", "???", "a???", "choice(a,b)"},
      {"sh", "-c", "echo \"$1\" > '/tmp/a b'; exit $?", "--"},
  };
  for (const Words& words : programs) {
    const auto read = composed(words);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, words);
  }
}

TEST(ProgramWords, AlsoReplaceTheBuiltInWorkloadOfAnotherConfig) {
  const auto read = composed({"./a.out", "1"}, "demo");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, (Words{"./a.out", "1"}));
}

TEST(ProgramWords, AreReadable) {
  EXPECT_EQ(program_override({"python3", "infer.py", "it's"}),
            R"(++pipeline.workload.command=['python3','infer.py','it\'s'])");
}

}  // namespace
}  // namespace profline::session
