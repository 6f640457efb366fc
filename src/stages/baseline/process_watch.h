#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/node.h"
#include "process/runner.h"
#include "schema/field.h"

/// What the processes of a user's program used, for process.json.
namespace profline::stages {

/// What one process of a program used, as far as it was observed.
struct ProcessUse {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;
  bool torch = false;

  bool operator==(const ProcessUse&) const = default;
};
constexpr auto fields(std::type_identity<ProcessUse>) {
  return field_list(
      field("pid", &ProcessUse::pid, "as the kernel numbers it"),
      field("parent", &ProcessUse::parent, "the process that made it"),
      field("name", &ProcessUse::name, "as the kernel has it: at most 15 bytes"),
      field("cpu_user_ns", &ProcessUse::cpu_user_ns, "when it was last seen"),
      field("cpu_system_ns", &ProcessUse::cpu_system_ns, "when it was last seen"),
      field("max_rss_bytes", &ProcessUse::max_rss_bytes, "largest resident set so far"),
      field("torch", &ProcessUse::torch, "whether it had libtorch loaded"));
}

/// Samples a child and all its descendants about ten times per second: a shorter-lived process may
/// be missed, and so is whatever a process does after its last sample.
class ProcessWatch final : public RunObserver {
 public:
  void started(const ProcessId& child) override;
  void output(std::string_view bytes) override;

  /// In order of start.
  std::vector<ProcessUse> processes() const;

 private:
  void look();

  ProcessId child_;
  struct Seen {
    ProcessUse use;
    std::uint64_t start_ticks = 0;
    // When its libraries are listed next: ever less often, so as not to disturb what is measured.
    std::chrono::steady_clock::time_point next_listing{};
    std::chrono::milliseconds pause{250};
  };
  std::map<std::pair<std::int64_t, std::uint64_t>, Seen> seen_;  // by pid and start
};

/// `process.json`: how the program ended, what its processes used, and why the Python adapter did
/// not start in it (empty: it did, or there is no Python).
Node process_document(const Exit& exit, const std::vector<ProcessUse>& processes,
                      const std::string& no_adapter = "");

}  // namespace profline::stages
