#include "tools/ncu/messages.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"

namespace profline::ncu {
namespace {

constexpr std::string_view kError = "==ERROR== ";
constexpr std::string_view kWarning = "==WARNING== ";
constexpr std::string_view kProgress = "==PROF== ";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number in `The application returned an error code (5).`
std::optional<int> code_in(std::string_view line) {
  constexpr std::string_view kBefore = "returned an error code (";
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kBefore.size());
  int code = 0;
  const auto [rest, status] = std::from_chars(line.data(), line.data() + line.size(), code);
  if (status != std::errc()) return std::nullopt;
  return code;
}

void read_error(std::string_view line, Messages& messages) {
  messages.errors.emplace_back(line);
  if (const auto code = code_in(line)) messages.application_code = code;
  if (has(line, "failed to connect to the CUDA driver") ||
      has(line, "Driver could not be loaded")) {
    messages.no_libcuda = true;
  }
  if (has(line, "does not exist or is not an executable")) messages.program_not_found = true;
  if (has(line, "Unable to write to file") || has(line, "Failed to create report")) {
    messages.cannot_write = true;
  }
}

void read_warning(std::string_view line, Messages& messages) {
  constexpr std::array<std::string_view, 3> kKinds = {"kernels", "ranges", "graphs"};
  for (const std::string_view kind : kKinds) {
    if (line == "No " + std::string(kind) + " were profiled.") {
      messages.nothing_profiled = kind;
      return;
    }
  }
  messages.warnings.emplace_back(line);
}

void read_progress(std::string_view line, Messages& messages) {
  // ==PROF== Connected to process 937 (/usr/bin/app)
  // ==PROF== Profiling "gemm" - 0: 0%....50%....100% - 9 passes
  if (line.starts_with("Connected to process")) ++messages.connected;
  if (line.starts_with("Profiling \"") && has(line, "pass")) ++messages.profiled;
}

}  // namespace

Messages read_messages(std::string_view log) {
  Messages messages;
  std::string text(log);
  std::replace(text.begin(), text.end(), '\r', '\n');
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (has(line, "ERR_NVGPUCTRPERM")) messages.counters_denied = true;
    if (has(line, "No space left on device")) messages.disk_full = true;
    if (line.starts_with(kError)) read_error(line.substr(kError.size()), messages);
    if (line.starts_with(kWarning)) read_warning(line.substr(kWarning.size()), messages);
    if (line.starts_with(kProgress)) read_progress(line.substr(kProgress.size()), messages);
  }
  return messages;
}

}  // namespace profline::ncu
