#include "tools/nsys/messages.h"

#include <algorithm>

#include "base/strings.h"

namespace profline::nsys {
namespace {

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

void keep_first(std::string& kept, std::string_view line) {
  if (kept.empty()) kept = line;
}

/// `"Failed to get number of the device CPUs."` without its quotes.
std::string_view unquoted(std::string_view text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

/// The importer prints its exception as a tree:
///
///     Items {
///       Type: ErrorText
///       Value: "Failed to get number of the device CPUs."
void read_importer_reason(std::string_view before, std::string_view line, Messages& messages) {
  constexpr std::string_view kValue = "Value: ";
  if (before != "Type: ErrorText" || !line.starts_with(kValue)) return;
  keep_first(messages.importer_reason, unquoted(line.substr(kValue.size())));
}

/// Lines that mean something on their own.
void read_line(std::string_view line, Messages& messages) {
  if (line == "Capture range started in the application.") ++messages.ranges_started;
  if (line == "Capture range ended in the application.") ++messages.ranges_ended;
  if (line.starts_with("Importer error status:")) keep_first(messages.importer_problem, line);
  if (line.starts_with("Failed to create '")) keep_first(messages.create_problem, line);
  if (line.starts_with("Executable not found") || line.starts_with("No such file or directory:")) {
    keep_first(messages.program_problem, line);
  }
  if (has(line, "Connection to Agent lost") || has(line, "Agent was terminated")) {
    messages.agent_lost = true;
  }
  if (line.starts_with("Session name") && has(line, "already in use")) {
    messages.session_in_use = true;
  }
  if (has(line, "No space left on device")) messages.disk_full = true;
  if (line.starts_with("ERROR:")) messages.errors.emplace_back(line);
}

}  // namespace

bool importer_was_not_found(const Messages& messages) {
  return has(messages.importer_problem, "not found");
}

Messages read_messages(std::string_view log) {
  // Progress is drawn over itself with carriage returns.
  std::string text(log);
  std::replace(text.begin(), text.end(), '\r', '\n');
  Messages messages;
  std::string_view before;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (messages.finished && raw.starts_with("    ") && line.front() == '/') {
      messages.generated.emplace_back(line);
      continue;
    }
    if (line == "Generated:") messages.finished = true;
    // The usage follows the reason.
    if (line.starts_with("usage: nsys")) keep_first(messages.usage_problem, before);
    read_line(line, messages);
    read_importer_reason(before, line, messages);
    before = line;
  }
  return messages;
}

}  // namespace profline::nsys
