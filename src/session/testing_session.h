#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "session/configuration.h"
#include "session/services.h"
#include "testing/processes/fake_processes.h"
#include "testing/short_run.h"
#include "testing/temp_dir.h"

namespace profline::session {

/// A temporary folder in which configs are looked for, and services that record what was printed.
class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { write("conf/single.yaml", testing::kShortRun); }

  void write(const std::filesystem::path& name, const std::string& text) {
    ASSERT_TRUE(create_folders((folder_ / name).parent_path()));
    ASSERT_TRUE(write_file_atomic(folder_ / name, text));
  }
  std::string text_of(const std::filesystem::path& name) const {
    return read_file(folder_ / name).value_or("absent");
  }
  bool exists(const std::filesystem::path& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  ConfigChoice choice(std::vector<std::string> overrides = {}, std::string name = "single") const {
    ConfigChoice chosen;
    chosen.name = std::move(name);
    chosen.overrides = std::move(overrides);
    chosen.cwd = folder_.path();
    return chosen;
  }
  std::unique_ptr<Configuration> composed(const ConfigChoice& chosen) const {
    auto configuration = Configuration::compose(chosen);
    EXPECT_TRUE(configuration) << configuration.error().to_string();
    return configuration ? std::move(*configuration) : nullptr;
  }

  Services services(int verbosity = 0) {
    return {processes_,
            interrupt_,
            Remarks(verbosity, [this](const std::string& line) { said_.push_back(line); }),
            {.verbosity = Verbosity::Quiet}};
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
  Interrupt interrupt_;
  std::vector<std::string> said_;
};

}  // namespace profline::session
