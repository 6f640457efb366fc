#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "kernel_report/captured_kernels.h"
#include "testing/paths.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::kernel_report {

/// A folder with `raw.csv`: six kernels as ncu 2025.3 recorded them on an H200.
class CapturesTest : public ::testing::Test {
 protected:
  CapturesTest() { write("raw.csv", raw_page()); }

  static std::string raw_page() {
    const auto file = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
    auto text = read_file(file);
    EXPECT_TRUE(text) << text.error().to_string();
    return text ? std::move(*text) : "";
  }
  void write(const std::filesystem::path& name, const std::string& text) const {
    ASSERT_TRUE(create_folders((folder_ / name).parent_path()));
    ASSERT_TRUE(write_file_atomic(folder_ / name, text));
  }
  std::vector<Capture> captures_in(const std::string& name) {
    auto captures = find_captures(folder_ / name, processes_, "ncu");
    EXPECT_TRUE(captures) << captures.error().to_string();
    return captures ? std::move(*captures) : std::vector<Capture>();
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
};

}  // namespace profline::kernel_report
