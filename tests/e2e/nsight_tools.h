#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profline_binary.h"
#include "records/range_use.h"
#include "records/run_record.h"
#include "testing/temp_dir.h"

namespace profline::e2e {

/// Debian's nsys and ncu, unpacked under build/tools by `scripts/fetch_nsight pair`, which `make
/// test` calls. NSIGHT_SUITE names the release (bookworm, trixie), NSIGHT=0 disables them.
struct NsightTools {
  std::filesystem::path folder;

  /// An environment in which they are found; on request with ncu's user-mode driver.
  Command environment(bool with_driver = false) const;
};

/// Nothing, with the reason, if they do not exist.
std::optional<NsightTools> nsight_tools(std::string& why_not);
/// The same, if nsys has proved able to write a report here.
std::optional<NsightTools> working_nsys(std::string& why_not);

/// The outcome of a run of profline.
struct NsightRun {
  Outcome outcome;
  std::filesystem::path folder;
  std::optional<StageRecord> stage;  ///< status.json of the stage that was asked for

  bool has_finding(std::string_view code) const;
  const Finding* finding(std::string_view code) const;
};

/// ranges.json of its nsys stage; a test failure if it cannot be read.
NsysRanges ranges_of(const NsightRun& run);

/// Runs in its own folder. The tools lose their agent now and then, so a run that is not `is_good`
/// is repeated once, and that is reported.
class NsightRunner {
 public:
  NsightRunner(const NsightTools& tools, std::string stage)
      : tools_(tools), stage_(std::move(stage)) {}

  /// What runs instead of the built-in model: `-- PROGRAM ARGUMENTS`.
  void set_program(std::vector<std::string> words) { program_ = std::move(words); }
  /// Where runs are made.
  const std::filesystem::path& root() const { return root_.path(); }
  /// An environment variable for runs.
  void set(const std::string& name, const std::string& value) { env_[name] = value; }
  NsightRun run(const std::vector<std::string>& overrides,
                const std::function<bool(const NsightRun&)>& is_good, bool with_driver = false);

 private:
  NsightRun attempt(const std::vector<std::string>& overrides, bool with_driver);

  NsightTools tools_;
  std::string stage_;
  std::vector<std::string> program_;
  std::map<std::string, std::string> env_;
  testing::TempDir root_;
  int runs_ = 0;
};

/// Processes whose command line contains this text.
std::vector<std::string> processes_naming(const std::string& text);

}  // namespace profline::e2e
