#include "session/configuration.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HydraSettingsTest : public SessionTest {
 protected:
  const Configuration& with(std::vector<std::string> overrides) {
    configuration_ = composed(choice(std::move(overrides)));
    return *configuration_;
  }

  std::unique_ptr<Configuration> configuration_;
};

TEST_F(HydraSettingsTest, TheModeMayBeLeftOpen) {
  EXPECT_EQ(hydra_mode(with({"hydra.mode=MULTIRUN"}).hydra()).value(), config::RunMode::Multirun);
  EXPECT_EQ(hydra_mode(with({"hydra.mode=RUN"}).hydra()).value(), config::RunMode::Run);
}

TEST_F(HydraSettingsTest, TheFolderOfHydrasFilesIsInsideTheRuns) {
  EXPECT_EQ(hydra_output_subdir(with({"hydra.output_subdir=.hydra"}).hydra()).value(), ".hydra");
  EXPECT_EQ(hydra_output_subdir(with({"hydra.output_subdir=null"}).hydra()).value(), std::nullopt);
  for (const char* outside : {"..", "/tmp/x", "a/../../b"}) {
    const auto refused =
        hydra_output_subdir(with({"hydra.output_subdir=" + std::string(outside)}).hydra());
    ASSERT_FALSE(refused) << outside;
    EXPECT_EQ(refused.error().message(),
              "hydra.output_subdir: '" + std::string(outside) + "' is not inside the run's folder");
  }
}

TEST_F(HydraSettingsTest, ParametersOfTheSweeperAreOverrides) {
  write("conf/sweep.yaml",
        "defaults: [single, _self_]\n"
        "hydra:\n"
        "  sweeper:\n"
        "    max_batch_size: 2\n"
        "    params:\n"
        "      infer.max_new_tokens: 1,2\n"
        "      device: cpu\n");
  configuration_ = composed(choice({}, "sweep"));
  const SweeperSettings settings = sweeper_settings(configuration_->hydra()).value();
  std::vector<std::string> texts;
  for (const config::Override& param : settings.params) texts.push_back(param.text);
  EXPECT_THAT(texts, ElementsAre("infer.max_new_tokens=1,2", "device=cpu"));
  EXPECT_EQ(settings.max_batch_size, 2);
}

TEST_F(HydraSettingsTest, TheLauncherHasTheKeysOfHydrasSubmititLauncher) {
  using sweep::LauncherKind;
  EXPECT_EQ(launcher_choice(with({}).hydra()).value().kind, LauncherKind::Basic);
  EXPECT_EQ(launcher_choice(with({"hydra/launcher=submitit_local"}).hydra()).value().kind,
            LauncherKind::Local);
  const auto slurm = launcher_choice(
      with({"hydra/launcher=submitit_slurm", "hydra.launcher.mem_gb=1.5",
            "+hydra.launcher.additional_parameters.nice=3", "hydra.launcher.setup=[a b]"})
          .hydra());
  ASSERT_TRUE(slurm) << slurm.error().to_string();
  EXPECT_EQ(slurm->kind, LauncherKind::Slurm);
  EXPECT_EQ(slurm->settings.name, "profline");
  EXPECT_EQ(slurm->settings.submitit_folder, "sweep/.submitit/%j");
  EXPECT_EQ(slurm->settings.mem_gb, 1.5);
  EXPECT_EQ(slurm->settings.setup, std::vector<std::string>{"a b"});
  EXPECT_THAT(ignored_hydra_settings(configuration_->composition()), IsEmpty());
  const auto late =
      launcher_choice(with({"hydra/launcher=slurm", "hydra.launcher.timeout_min=2"}).hydra());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message(),
            "hydra.launcher.signal_delay_s is 120 s, which leaves nothing of timeout_min=2");
}

TEST_F(HydraSettingsTest, AnotherSweeperIsRefused) {
  const auto refused = sweeper_settings(with({"hydra.sweeper._target_=optuna.Sweeper"}).hydra());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "the sweeper 'optuna.Sweeper' is Python; profline has Hydra's basic sweeper only");
}

TEST_F(HydraSettingsTest, SaysWhatHasNoEffectAndWhereItWasSet) {
  EXPECT_THAT(ignored_hydra_settings(with({}).composition()), IsEmpty());
  EXPECT_THAT(
      ignored_hydra_settings(with({"hydra.verbose=true", "hydra/job_logging=none"}).composition()),
      ElementsAre("hydra.job_logging has no effect: a run's log is run.log, and -v and -q choose "
                  "what is printed",
                  "override 1:1:1: hydra.verbose has no effect: -v prints more"));
}

}  // namespace
}  // namespace profline::session
