#include "doctor/checks.h"

#include <ostream>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::doctor {

void PrintTo(const Finding& finding, std::ostream* stream) {  // GoogleTest looks for this name
  *stream << finding.name << ' ' << to_text(finding.state) << ' ' << finding.detail
          << (finding.fix.empty() ? "" : " fix: ") << finding.fix;
}

namespace {

const nsys::Installation kNsys{"/usr/bin/nsys", {2023, 4, 4}};

TEST(DoctorGpu, ListsEveryDevice) {
  gpu::Driver driver{13, 0, {{0, "NVIDIA H200", "GPU-1", 9, 0, 141ULL << 30U}}};
  driver.devices.push_back({1, "NVIDIA L4", "GPU-2", 8, 9, 24ULL << 30U});
  EXPECT_EQ(
      judge_gpu(driver),
      (Finding{"gpu", State::Found,
               "cuda:0 NVIDIA H200, compute 9.0, 141.0 GiB; cuda:1 NVIDIA L4, compute 8.9, 24.0 "
               "GiB; driver runs CUDA 13.0"}));
}

TEST(DoctorGpu, AbsentDriverIsMissingAndAFailingOneBroken) {
  EXPECT_EQ(judge_gpu(Error(ErrorKind::NotFound, "no NVIDIA driver")).state, State::Missing);
  EXPECT_EQ(judge_gpu(Error(ErrorKind::Tool, "cuInit failed: error 999")).state, State::Broken);
}

TEST(DoctorCounters, FollowTheDriversParameterAndTheUser) {
  EXPECT_EQ(judge_counters(std::nullopt, true).state, State::Missing);
  EXPECT_EQ(judge_counters("RmProfilingAdminOnly: 0\n", false).state, State::Found);
  EXPECT_EQ(judge_counters("RmProfilingAdminOnly: 1\n", true).state, State::Found);
  const Finding kept = judge_counters("RmProfilingAdminOnly: 1\n", false);
  EXPECT_EQ(kept.state, State::Broken);
  EXPECT_EQ(kept.detail, "restricted to administrators: ncu would fail with ERR_NVGPUCTRPERM");
  EXPECT_NE(kept.fix.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
}

TEST(DoctorNsys, IsFoundWhenATrialCaptureWroteAReport) {
  nsys::Trial trial;
  trial.report_written = true;
  EXPECT_EQ(judge_nsys(kNsys, trial), (Finding{"nsys", State::Found, "2023.4.4 (/usr/bin/nsys)"}));
}

TEST(DoctorNsys, NamesTheLibrariesItsImporterLacks) {
  nsys::Trial trial;
  trial.left_unimported = true;
  trial.importer = "/x/host-linux-x64/QdstrmImporter";
  trial.importer_lacks = {"libssh.so.4", "libdw.so.1", "libother.so.9"};
  EXPECT_EQ(
      judge_nsys(kNsys, trial),
      (Finding{"nsys", State::Broken,
               "2023.4.4 (/usr/bin/nsys): captures, but its importer lacks libssh.so.4, "
               "libdw.so.1, libother.so.9, so no report is written",
               "install what provides libssh.so.4, libdw.so.1, libother.so.9 (Debian: apt-get "
               "install libssh-4 libdw1)"}));
}

TEST(DoctorNsys, ExplainsAMissingImporter) {
  nsys::Trial trial;
  trial.left_unimported = true;
  const Finding finding = judge_nsys(kNsys, trial);
  EXPECT_EQ(finding.state, State::Broken);
  EXPECT_EQ(finding.detail,
            "2023.4.4 (/usr/bin/nsys): captures, but does not find its importer, so no report is "
            "written");
}

TEST(DoctorNsys, QuotesAnImporterThatFailed) {
  nsys::Trial trial;
  trial.left_unimported = true;
  trial.importer_said = "Failed to get number of the device CPUs.";
  EXPECT_EQ(judge_nsys(kNsys, trial).detail,
            "2023.4.4 (/usr/bin/nsys): captures, but its importer failed, so no report is written: "
            "Failed to get number of the device CPUs.");
}

TEST(DoctorNsys, QuotesNsysWhenTheCauseIsUnknown) {
  nsys::Trial trial;
  trial.output = "something else";
  EXPECT_EQ(judge_nsys(kNsys, trial).detail,
            "2023.4.4 (/usr/bin/nsys): a trial capture wrote no report; it said: something else");
}

TEST(DoctorNsys, IsMissingWhenItIsNotOnPath) {
  const Finding finding = judge_nsys(Error(ErrorKind::NotFound, "no such program"), std::nullopt);
  EXPECT_EQ(finding.state, State::Missing);
  EXPECT_EQ(finding.detail, "not on PATH");
}

TEST(DoctorNsys, IsBrokenWhenItCannotReadItsOwnReports) {
  nsys::Trial trial;
  trial.report_written = true;
  trial.reading_problem = "internal error: Module threw exception No module named 'nsysstats'";
  const Finding finding = judge_nsys(kNsys, trial);
  EXPECT_EQ(finding.state, State::Broken);
  EXPECT_EQ(finding.detail,
            "2023.4.4 (/usr/bin/nsys): captures, but cannot read its own reports: internal "
            "error: Module threw exception No module named 'nsysstats'");
  EXPECT_TRUE(finding.fix.starts_with("with Debian's package: ln -s ")) << finding.fix;
}

TEST(DoctorNcu, IsBrokenWhenItDoesNotAnswerOrCannotStartAnything) {
  const ncu::Installation ncu{"/usr/bin/ncu", {2024, 1, 1}};
  EXPECT_EQ(judge_ncu(ncu, gpu::Driver{}),
            (Finding{"ncu", State::Found, "2024.1.1 (/usr/bin/ncu)"}));
  EXPECT_EQ(judge_ncu(ncu, Error(ErrorKind::NotFound, "the NVIDIA driver sees no GPU")).state,
            State::Found)
      << "the gpu check reports that";
  EXPECT_EQ(
      judge_ncu(
          ncu,
          Error(ErrorKind::NotFound, "no NVIDIA driver: libcuda.so.1").with_reason(gpu::kNoLibrary))
          .detail,
      "2024.1.1 (/usr/bin/ncu): ends every program it starts, because there is no "
      "libcuda.so.1");
  const Finding finding =
      judge_ncu(Error(ErrorKind::Tool, "'ncu --version' exited with code 127"), gpu::Driver{});
  EXPECT_EQ(finding.state, State::Broken);
  EXPECT_EQ(finding.detail, "'ncu --version' exited with code 127");
}

TEST(DoctorNvtx, IsWhatTheWorkloadWasBuiltWith) {
  EXPECT_EQ(judge_nvtx(std::string(R"({"nvtx": true})")).state, State::Found);
  const Finding without = judge_nvtx(std::string(R"({"nvtx": false})"));
  EXPECT_EQ(without.state, State::Missing);
  EXPECT_EQ(without.fix, "scripts/setup nvtx && make build");
  EXPECT_EQ(judge_nvtx(Error(ErrorKind::NotFound, "no program")).fix, "see libtorch");
}

TEST(DoctorSampling, NeedsALowParanoiaOrAnAdministrator) {
  EXPECT_EQ(judge_sampling("2\n", false).state, State::Found);
  EXPECT_EQ(judge_sampling("3\n", false).state, State::Broken);
  EXPECT_EQ(judge_sampling("3\n", true).state, State::Found);
  EXPECT_EQ(judge_sampling(std::nullopt, true).state, State::Missing);
}

TEST(DoctorLibtorch, ReadsWhatTheWorkloadSays) {
  const std::string answer =
      R"({"schema": "profline.torch_build/1", "version": "1.13.0", "cuda": false, "blas": "OpenBLAS 0.3.21"})";
  EXPECT_EQ(judge_libtorch(answer),
            (Finding{"libtorch", State::Found, "1.13.0, CPU only, OpenBLAS 0.3.21"}));
  EXPECT_EQ(judge_libtorch(Error(ErrorKind::NotFound, "no program 'profline-workload'")).state,
            State::Missing);
  EXPECT_EQ(judge_libtorch(std::string("what?")).state, State::Broken);
}

TEST(DoctorLibtorch, ReportsTheReferenceBlas) {
  const Finding finding =
      judge_libtorch(std::string(R"({"version": "1.13.0", "cuda": false, "blas": "reference"})"));
  EXPECT_EQ(finding.state, State::Broken);
  EXPECT_EQ(finding.fix, "apt-get install libopenblas0-pthread");
}

TEST(DoctorDisk, WantsRoomForCaptures) {
  EXPECT_EQ(judge_disk("/data", 80ULL << 30U).state, State::Found);
  const Finding finding = judge_disk("/data", 4ULL << 30U);
  EXPECT_EQ(finding.state, State::Broken);
  EXPECT_EQ(finding.fix, "free up 6.0 GiB, or start where there is more room: captures are large");
}

class ExaminationTest : public ::testing::Test {
 protected:
  std::string program(const std::string& name) const {
    EXPECT_TRUE(write_file_atomic(folder_ / name, "#!/bin/sh\n"));
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    return (folder_ / name).string();
  }
  static const Finding* find(const std::vector<Finding>& findings, const std::string& name) {
    for (const Finding& finding : findings) {
      if (finding.name == name) return &finding;
    }
    return nullptr;
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
  Interrupt interrupt_;
};

TEST_F(ExaminationTest, HasAFindingForEverySubject) {
  const std::string workload = program("workload");
  processes_.expect({workload, "--version", "--format", "json"})
      .prints(R"({"version": "2.11", "blas": "mkl", "cuda": true, "nvtx": false})");
  const auto findings = examine({.nsys = "no-such-nsys",
                                 .ncu = "no-such-ncu",
                                 .workload = workload,
                                 .srun = "no-such-srun",
                                 .mpirun = "no-such-mpirun",
                                 .torchrun = "no-such-torchrun"},
                                processes_, interrupt_);
  ASSERT_TRUE(findings) << findings.error().to_string();
  std::vector<std::string> names;
  for (const Finding& finding : *findings) names.push_back(finding.name);
  EXPECT_EQ(names, subjects());
  EXPECT_EQ(find(*findings, "nsys")->state, State::Missing);
  EXPECT_EQ(find(*findings, "ncu")->state, State::Missing);
  EXPECT_EQ(*find(*findings, "libtorch"),
            (Finding{"libtorch", State::Found, "2.11, with CUDA, mkl"}));
  EXPECT_EQ(find(*findings, "nvtx")->state, State::Missing);
}

TEST_F(ExaminationTest, AProgramThatWasNamedMustBeThere) {
  const std::string gone = (folder_ / "ncu").string();
  const auto findings = examine({.nsys = "nsys", .ncu = gone}, processes_, interrupt_);
  ASSERT_FALSE(findings);
  EXPECT_EQ(findings.error().kind(), ErrorKind::NotFound);
}

TEST_F(ExaminationTest, AnInterruptEndsIt) {
  interrupt_.request();
  const auto findings = examine({.nsys = "no-such-nsys",
                                 .ncu = "no-such-ncu",
                                 .workload = "no-such-workload",
                                 .srun = "no-such-srun",
                                 .mpirun = "no-such-mpirun",
                                 .torchrun = "no-such-torchrun"},
                                processes_, interrupt_);
  ASSERT_FALSE(findings);
  EXPECT_EQ(findings.error().kind(), ErrorKind::Cancelled);
}

TEST(DoctorRequirements, OnlyWhatIsRequiredMustBeFound) {
  const std::vector<Finding> findings = {{"gpu", State::Missing, ""}, {"nsys", State::Found, ""}};
  EXPECT_TRUE(are_found({}, findings));
  EXPECT_TRUE(are_found({"nsys"}, findings));
  EXPECT_FALSE(are_found({"nsys", "gpu"}, findings));
}

}  // namespace
}  // namespace profline::doctor
