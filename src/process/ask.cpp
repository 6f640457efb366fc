#include "process/ask.h"

#include <sys/mman.h>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/os_error.h"
#include "base/strings.h"

namespace profline {

Result<std::string> output_of(ProcessRunner& runner, std::vector<std::string> argv,
                              std::chrono::milliseconds limit) {
  // In memory, under a name that the runner can open: answers are short and nobody else's business.
  const FileDescriptor memory(::memfd_create("answer", MFD_CLOEXEC));
  if (!memory.is_open()) return os_error("keep the answer of", argv.front(), errno);
  Command command{.argv = std::move(argv)};
  command.out = "/proc/self/fd/" + std::to_string(memory.get());
  command.timeout = limit;
  command.stop_briefly = true;
  const Exit exit = PL_TRY(runner.run(command));
  std::string answer = PL_TRY(read_file(command.out));
  if (exit.succeeded()) return answer;
  const std::string said = std::string(trim(answer + exit.tail));
  return Error(ErrorKind::Tool, "'" + display({.argv = command.argv}) + "' " + exit.describe() +
                                    (said.empty() ? "" : ": " + said));
}

}  // namespace profline
