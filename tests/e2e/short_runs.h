#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "profline_binary.h"
#include "testing/short_run.h"
#include "testing/temp_dir.h"

namespace profline::e2e {

using testing::kShortRun;

/// A folder with that config, named `single`.
class ShortRuns : public ::testing::Test {
 protected:
  ShortRuns() { write_files(folder_.path(), {{"conf/single.yaml", kShortRun}}); }

  Outcome run(const std::string& config, std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "--config-name", config});
    return run_profline_in(folder_.path(), std::move(words));
  }
  /// The content of the folder, without its configs.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename() != "conf") names.push_back(entry.path().filename().string());
    }
    return names;
  }
  std::string text_of(const std::filesystem::path& file) const {
    return read_file(folder_ / file).value_or("absent");
  }

  testing::TempDir folder_;
};

}  // namespace profline::e2e
