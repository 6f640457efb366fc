#include "tools/ncu/probe.h"

#include "base/strings.h"
#include "process/ask.h"

namespace profline::ncu {

Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program) {
  const std::string answer = PL_TRY(output_of(runner, {program.string(), "--version"}));
  const auto version = find_version(answer, "Version");
  if (!version) {
    return Error(ErrorKind::Tool,
                 program.string() + " --version names no version: " + std::string(trim(answer)));
  }
  return Installation{program, *version};
}

}  // namespace profline::ncu
