#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profline_binary.h"
#include "records/run_record.h"
#include "testing/temp_dir.h"

namespace profline::e2e {

/// Debian's nsys and ncu, unpacked under build/tools by `scripts/fetch_nsight pair`, which `make
/// test` calls. NSIGHT_SUITE names the release (bookworm, trixie), NSIGHT=0 does without.
struct NsightTools {
  std::filesystem::path folder;

  /// An environment in which they are found; with ncu's user-mode driver if that is asked for.
  Command environment(bool with_driver = false) const;
};

/// Nothing, and why, where they are not there.
std::optional<NsightTools> nsight_tools(std::string& why_not);
/// The same where nsys has been seen to write a report here.
std::optional<NsightTools> working_nsys(std::string& why_not);

/// What a run of profline left.
struct NsightRun {
  Outcome outcome;
  std::filesystem::path folder;
  std::optional<StageRecord> stage;  ///< status.json of the stage that was asked for

  bool has_finding(std::string_view code) const;
  const Finding* finding(std::string_view code) const;
};

/// Runs in a folder of its own; the tools lose their agent now and then, so a run that is not what
/// `is_good` says is made once more, and that is told.
class NsightRunner {
 public:
  NsightRunner(const NsightTools& tools, std::string stage)
      : tools_(tools), stage_(std::move(stage)) {}

  /// A variable of the environment that runs are given.
  void set(const std::string& name, const std::string& value) { env_[name] = value; }
  NsightRun run(const std::vector<std::string>& overrides,
                const std::function<bool(const NsightRun&)>& is_good, bool with_driver = false);

 private:
  NsightRun attempt(const std::vector<std::string>& overrides, bool with_driver);

  NsightTools tools_;
  std::string stage_;
  std::map<std::string, std::string> env_;
  testing::TempDir root_;
  int runs_ = 0;
};

/// Processes whose command line holds this text.
std::vector<std::string> processes_naming(const std::string& text);

}  // namespace profline::e2e
