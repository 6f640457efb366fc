#include "config_options.h"

#include <filesystem>

namespace profline {

namespace fs = std::filesystem;

std::vector<Option> config_choice_options() {
  using Takes = Option::Takes;
  return {
      {"--config-name", "-cn", Takes::Value, "NAME", "the primary config [config]"},
      {"--config-path", "-cp", Takes::Value, "DIR",
       "folder with the configs [./conf if it contains the primary config]"},
      {"--config-dir", "-cd", Takes::Value, "DIR", "search this folder for configs as well"},
  };
}

session::ConfigChoice config_choice(const Arguments& arguments) {
  session::ConfigChoice choice;
  choice.path = arguments.value("--config-path");
  choice.dir = arguments.value("--config-dir");
  choice.name = arguments.value("--config-name").value_or(choice.name);
  choice.overrides = arguments.words;
  return choice;
}

Result<void> check_nothing_is_shown(const Arguments& arguments) {
  for (const char* option : {"--package", "--resolve"}) {
    if (!arguments.has(option)) continue;
    return Error(ErrorKind::Config,
                 std::string(option) + " is for showing the config: add --cfg job")
        .with_reason("usage");
  }
  return {};
}

std::vector<Option> run_options() {
  using Takes = Option::Takes;
  return {
      {"--workload", "", Takes::Value, "PROGRAM",
       "the profline-workload to run [next to profline, then on PATH]"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys to run [nsys on PATH]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu to run [ncu on PATH]"},
  };
}

session::ProgramChoice program_choice(const Arguments& arguments) {
  const auto named = [&](const char* option) -> std::string {
    const std::string name = arguments.value(option).value_or("");
    if (name.find('/') == std::string::npos) return name;
    std::error_code failure;
    const fs::path path = fs::absolute(name, failure);
    return failure ? name : path.lexically_normal().string();
  };
  session::ProgramChoice programs;
  programs.workload = named("--workload");
  programs.nsys = named("--nsys");
  programs.ncu = named("--ncu");
  return programs;
}

}  // namespace profline
