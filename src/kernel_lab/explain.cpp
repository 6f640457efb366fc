#include "kernel_lab/explain.h"

#include <fmt/core.h>

namespace profline::kernel_lab {

std::string why_failed(const ncu::Messages& messages, const Exit& exit, const std::string& regex,
                       const std::string& counted) {
  if (messages.counters_denied) {
    return "the driver keeps GPU performance counters for administrators (ERR_NVGPUCTRPERM); "
           "'profline doctor' tells how to open them";
  }
  if (messages.no_libcuda)
    return "ncu did not reach the CUDA driver: there is no GPU here, or no driver";
  if (messages.program_not_found) return "ncu did not find the program";
  if (messages.disk_full) return "no space left on the disk";
  if (messages.cannot_write) return "ncu could not write its report";
  if (!messages.nothing_profiled.empty()) {
    if (messages.application_code) {
      return fmt::format("the program failed with code {} before a kernel matched '{}'",
                         *messages.application_code, regex);
    }
    if (messages.connected == 0) return "the program made no use of CUDA";
    return fmt::format("no kernel matched '{}'{}", regex, counted);
  }
  if (exit.succeeded()) return {};
  if (messages.profiled > 0 && messages.application_code) return {};
  std::string why = "ncu " + exit.describe();
  if (!messages.errors.empty()) why += ": " + messages.errors.back();
  return why;
}

}  // namespace profline::kernel_lab
