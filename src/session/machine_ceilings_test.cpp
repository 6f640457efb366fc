#include "session/machine_ceilings.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/files.h"
#include "pipeline/environment.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;

class MachineCeilingsTest : public SessionTest {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("XDG_DATA_HOME")) before_ = before;
    setenv("XDG_DATA_HOME", (folder_.path() / "data").c_str(), 1);
  }
  void TearDown() override {
    if (before_) {
      setenv("XDG_DATA_HOME", before_->c_str(), 1);
    } else {
      unsetenv("XDG_DATA_HOME");
    }
  }
  config::SearchPath search_path() const {
    return config_search_path(choice({}, "hardware/devices"), folder_.path()).value();
  }
  static MachineCeilings h200(const std::string& uuid, double bytes_per_second) {
    MachineCeilings ceilings;
    ceilings.device = "NVIDIA H200";
    ceilings.device_uuid = uuid;
    ceilings.measured_at = "2026-11-18T20:00:00.000Z";
    CeilingFigure read;
    read.kind = "memory";
    read.name = "dram read";
    read.unit = "B/s";
    read.sustained.emplace().value = bytes_per_second;
    read.sustained->seconds = 1;
    ceilings.figures = {read};
    return ceilings;
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(MachineCeilingsTest, AreKeptPerDevice) {
  const MeasuredDevice first{"NVIDIA H200", "GPU-1", 0};
  const auto none = kept_ceilings(first);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(none.error().to_string(),
            "NVIDIA H200 has not been measured; `profline ceilings` measures it");
  const auto file = keep_ceilings(h200("GPU-1", 4.6e12));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(*file, folder_.path() / "data/profline/ceilings/h200-GPU-1.json");
  EXPECT_EQ(kept_file(first), *file);
  const auto kept = kept_ceilings(first);
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ(*kept, h200("GPU-1", 4.6e12));
  EXPECT_FALSE(kept_ceilings({"NVIDIA H200", "GPU-2", 0}));
  EXPECT_FALSE(kept_ceilings({"", "", 0}));
}

TEST_F(MachineCeilingsTest, OfANameAreThoseOfTheOnlyDeviceOfThatName) {
  ASSERT_TRUE(keep_ceilings(h200("GPU-1", 4.6e12)));
  EXPECT_TRUE(kept_ceilings({"h200", "", 0}));
  ASSERT_TRUE(keep_ceilings(h200("GPU-2", 4.5e12)));
  EXPECT_FALSE(kept_ceilings({"h200", "", 0}));
}

TEST_F(MachineCeilingsTest, OfACpuAreKeptPerNumberOfThreads) {
  MachineCeilings cpu = h200("", 2e10);
  cpu.device = pipeline::cpu_model();
  ASSERT_TRUE(keep_ceilings(cpu));
  EXPECT_TRUE(kept_ceilings({"", "", 0}));
  EXPECT_FALSE(kept_ceilings({"", "", 1}));
  cpu.chosen_threads = 1;
  ASSERT_TRUE(keep_ceilings(cpu));
  EXPECT_EQ(kept_ceilings({"", "", 1})->chosen_threads, 1);
}

TEST_F(MachineCeilingsTest, OfAnotherProcessorAreNotThoseOfThisHost) {
  if (pipeline::cpu_model().empty()) GTEST_SKIP() << "this machine does not name its processor";
  MachineCeilings cpu = h200("", 2e10);
  cpu.device = "a processor that this host had before";
  const fs::path file = keep_ceilings(cpu).value();
  const auto kept = kept_ceilings({"", "", 0});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(kept.error().to_string(),
            "this CPU has not been measured, because " + file.string() +
                " is of a processor that this host had before and this is " +
                pipeline::cpu_model() + "; `profline ceilings` measures it");
}

TEST_F(MachineCeilingsTest, ARunUsesThemUnlessToldOtherwise) {
  const MeasuredDevice device{"NVIDIA H200", "GPU-1", 0};
  const auto used = [&](const std::string& choice) {
    return ceilings_for(search_path(), device, {choice, folder_.path()});
  };
  EXPECT_EQ(used("auto")->used.bytes_per_second, 4.8e12);
  EXPECT_EQ(used("auto")->record.why,
            "NVIDIA H200 has not been measured; `profline ceilings` measures it");
  const auto missing = used("measured");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  ASSERT_TRUE(keep_ceilings(h200("GPU-1", 4.6e12)));
  EXPECT_EQ(used("auto")->used.bytes_per_second, 4.6e12);
  EXPECT_EQ(used("measured")->used.bytes_per_second, 4.6e12);
  EXPECT_EQ(used("datasheet")->used.bytes_per_second, 4.8e12);
  EXPECT_TRUE(used("datasheet")->record.roofs[1].is_used);
}

TEST_F(MachineCeilingsTest, AFileIsRelativeToTheFolderOfTheCommand) {
  write("mine.json", to_document(h200("GPU-9", 4.4e12)).value());
  const MeasuredDevice device{"NVIDIA H200", "GPU-1", 0};
  const auto used = ceilings_for(search_path(), device, {"mine.json", folder_.path()});
  ASSERT_TRUE(used) << used.error().to_string();
  EXPECT_EQ(used->used.bytes_per_second, 4.4e12);
  EXPECT_FALSE(ceilings_for(search_path(), device, {"absent.json", folder_.path()}));
}

TEST_F(MachineCeilingsTest, ThatCannotBeReadAreNotUsedAndSaidToBeSo) {
  const fs::path file = keep_ceilings(h200("GPU-1", 4.6e12)).value();
  ASSERT_TRUE(write_file_atomic(file, "{"));
  const MeasuredDevice device{"NVIDIA H200", "GPU-1", 0};
  const auto used = ceilings_for(search_path(), device, {"auto", folder_.path()});
  ASSERT_TRUE(used) << used.error().to_string();
  EXPECT_EQ(used->used.bytes_per_second, 4.8e12);
  EXPECT_NE(used->record.why.find("h200-GPU-1.json"), std::string::npos) << used->record.why;
  EXPECT_FALSE(ceilings_for(search_path(), device, {"measured", folder_.path()}));
}

}  // namespace
}  // namespace profline::session
