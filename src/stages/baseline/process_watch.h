#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "process/runner.h"
#include "schema/field.h"

namespace profline::stages {

/// What one process of a program took, as far as it was seen.
struct ProcessUse {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;

  bool operator==(const ProcessUse&) const = default;
};
constexpr auto fields(std::type_identity<ProcessUse>) {
  return field_list(
      field("pid", &ProcessUse::pid, "as the kernel numbers it"),
      field("parent", &ProcessUse::parent, "the process that made it"),
      field("name", &ProcessUse::name, "as the kernel has it: at most 15 bytes"),
      field("cpu_user_ns", &ProcessUse::cpu_user_ns, "when it was last seen"),
      field("cpu_system_ns", &ProcessUse::cpu_system_ns, "when it was last seen"),
      field("max_rss_bytes", &ProcessUse::max_rss_bytes, "largest resident set so far"));
}

/// Looks at a child and all it starts, about ten times a second: a process that lives for less may
/// not be seen, and of what one did after the last look nothing is known.
class ProcessWatch final : public RunObserver {
 public:
  void started(const ProcessId& child) override;
  void output(std::string_view bytes) override;

  /// In the order of their start.
  std::vector<ProcessUse> processes() const;

 private:
  void look();

  ProcessId child_;
  struct Seen {
    ProcessUse use;
    std::uint64_t start_ticks = 0;
  };
  std::map<std::pair<std::int64_t, std::uint64_t>, Seen> seen_;  // by pid and start
};

}  // namespace profline::stages
