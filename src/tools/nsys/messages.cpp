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

/// Lines that can be told by themselves.
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
    before = line;
  }
  return messages;
}

}  // namespace profline::nsys
