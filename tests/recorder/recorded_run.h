#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "process/runner.h"
#include "testing/temp_dir.h"
#include "tools/recorder/recording.h"

/// Runs one of this folder's programs under the recorder, in a folder of its own.
namespace profline::recorder {

class RecordedRun {
 public:
  /// Where recordings go; the program finds it in its environment.
  std::filesystem::path folder() const { return folder_; }
  void set_folder(const std::filesystem::path& folder) { folder_ = folder; }
  /// Sets a variable of the program's environment.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name);

  RecordedRun();

  /// The program with its arguments; both outputs are in Exit::tail.
  Exit run(const std::string& program, const std::vector<std::string>& arguments);
  /// What was recorded.
  RecordedFolder recorded() const;
  /// The recording of the only process; fails the test if there are more or fewer.
  ProcessRanges only_process() const;

  std::filesystem::path operator/(const std::string& name) const { return temp_ / name; }

 private:
  testing::TempDir temp_;
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
};

/// `libprofline-recorder.so`, as built.
std::filesystem::path recorder_library();

/// How many complete ranges of this name there are.
std::size_t complete(const ProcessRanges& process, const std::string& name);

}  // namespace profline::recorder
