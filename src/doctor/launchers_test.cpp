#include "doctor/launchers.h"

#include <gtest/gtest.h>

namespace profline::doctor {
namespace {

const Error kAbsent(ErrorKind::NotFound, "no such program");
const Error kFailed(ErrorKind::Tool, "sinfo exited with code 1");

std::string text_of(const Finding& finding) {
  return finding.name + " " + std::string(to_text(finding.state)) + " " + finding.detail +
         (finding.fix.empty() ? "" : " fix: " + finding.fix);
}

Result<std::string> text(const char* said) {
  return std::string(said);
}

TEST(DoctorSrun, IsFoundWhereTheControllerAnswers) {
  constexpr const char* kPlugins = "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n";
  EXPECT_EQ(text_of(judge_srun(text("slurm 22.05.8\n"), text("2 idle\n1 down\n"), text(kPlugins))),
            "srun found slurm 22.05.8; nodes: 2 idle, 1 down");
  EXPECT_EQ(text_of(judge_srun(text("slurm 22.05.8\n"), text("2 idle\n"), text("\tpmi2\n"))),
            "srun found slurm 22.05.8; nodes: 2 idle; without PMIx: ranks linked with Open MPI do "
            "not find each other under srun");
  EXPECT_EQ(text_of(judge_srun(text("slurm 22.05.8\n"), kFailed, text(kPlugins))),
            "srun broken slurm 22.05.8: the controller does not answer: sinfo exited with code 1 "
            "fix: check SLURM_CONF, and slurmctld with 'scontrol ping'");
  EXPECT_EQ(text_of(judge_srun(kAbsent, kAbsent, kAbsent)),
            "srun missing not on PATH fix: only for pipeline.workload.ranks.launcher=srun: install "
            "Slurm's client (Debian: apt-get install slurm-client), or put its folder on PATH");
  EXPECT_EQ(judge_srun(kFailed, kFailed, kFailed).state, State::Broken);
}

TEST(DoctorMpirun, IsOpenMpisAndNotRoots) {
  constexpr const char* kOpen = "mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n";
  EXPECT_EQ(text_of(judge_mpirun(text(kOpen), false, false)),
            "mpirun found mpirun (Open MPI) 4.1.4");
  EXPECT_EQ(text_of(judge_mpirun(text(kOpen), true, true)), "mpirun found mpirun (Open MPI) 4.1.4");
  EXPECT_EQ(text_of(judge_mpirun(text(kOpen), true, false)),
            "mpirun broken mpirun (Open MPI) 4.1.4: refuses to run as root fix: run as another "
            "user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  EXPECT_EQ(judge_mpirun(text("HYDRA build details:\n"), false, false).state, State::Broken);
  EXPECT_EQ(judge_mpirun(kAbsent, false, false).state, State::Missing);
  EXPECT_EQ(judge_mpirun(kFailed, false, false).state, State::Broken);
}

TEST(DoctorTorchrun, MustStartAnyProgram) {
  EXPECT_EQ(judge_torchrun(text("usage: torchrun [--no-python] ...")).state, State::Found);
  EXPECT_EQ(judge_torchrun(text("usage: torchrun [--no_python] ...")).state, State::Found);
  EXPECT_EQ(judge_torchrun(text("usage: torchrun ...")).state, State::Broken);
  EXPECT_EQ(judge_torchrun(kAbsent).state, State::Missing);
  EXPECT_EQ(judge_torchrun(kFailed).state, State::Broken);
}

TEST(DoctorLaunchers, ThoseThatCannotStartAnythingAreOptionalUnlessRequired) {
  const std::vector<Finding> findings = {
      {"gpu", State::Missing, "no NVIDIA driver", "see driver"},
      {"srun", State::Broken, "no configuration", "check slurm.conf"},
      {"mpirun", State::Found, "mpirun (Open MPI) 4.1.4"},
      {"torchrun", State::Missing, "not on PATH", "install PyTorch"},
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(optional_launchers(findings, {}), (Names{"srun", "torchrun"}));
  EXPECT_EQ(optional_launchers(findings, {"gpu", "torchrun"}), (Names{"srun"}));
}

}  // namespace
}  // namespace profline::doctor
