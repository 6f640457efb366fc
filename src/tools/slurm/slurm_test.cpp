#include "tools/slurm/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/read.h"
#include "testing/processes/fake_processes.h"

namespace profline::slurm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

TEST(SlurmArray, IsWrittenAsRangesAndReadBack) {
  const std::vector<std::size_t> indexes = {0, 1, 2, 5, 7, 8};
  EXPECT_EQ(array_text(indexes), "0-2,5,7-8");
  EXPECT_EQ(parse_array_text("0-2,5,7-8%4"), indexes);
  EXPECT_EQ(array_text(std::vector<std::size_t>{3}), "3");
  for (const char* text :
       {"", "x", "3-1", "1-", "0-4000001", "0-99999999999", "N/A", "0-3999999,0-3999999"}) {
    EXPECT_THAT(parse_array_text(text), IsEmpty()) << text;
  }
}

TEST(SlurmScript, QuotesEveryWordExceptSetup) {
  Options options;
  options.name = "it's";
  options.partition = "a b; rm -rf $HOME";
  options.gpus_per_node = 1;
  options.mem_gb = 1.5;
  options.setup = std::vector<std::string>{"module load cuda", "export A=\"$B\""};
  options.additional_parameters = {{"mail_type", Node::string("END")},
                                   {"exclusive", Node::boolean(true)},
                                   {"nice", Node::integer(5)},
                                   {"none", Node()}};
  const auto script = batch_script(options, {{0, 1, 2}, {"/opt/it's/profline", "$x"}, "/s/.s"});
  ASSERT_TRUE(script) << script.error().to_string();
  EXPECT_EQ(*script,
            "#!/bin/bash\n"
            "#SBATCH --job-name='it\\'s'\n"
            "#SBATCH --array='0-2%256'\n"
            "#SBATCH --output='/s/.s/%A_%a_log.out'\n"
            "#SBATCH --error='/s/.s/%A_%a_log.err'\n"
            "#SBATCH --open-mode='append'\n"
            "#SBATCH --requeue\n"
            "#SBATCH --time='60'\n"
            "#SBATCH --signal='B:USR2@120'\n"
            "#SBATCH --nodes='1'\n"
            "#SBATCH --ntasks-per-node='1'\n"
            "#SBATCH --gpus-per-node='1'\n"
            "#SBATCH --mem='1536M'\n"
            "#SBATCH --partition='a b; rm -rf $HOME'\n"
            "#SBATCH --exclusive\n"
            "#SBATCH --mail-type='END'\n"
            "#SBATCH --nice='5'\n"
            "\n"
            "trap '' USR2\n"
            "module load cuda\n"
            "export A=\"$B\"\n"
            "exec '/opt/it'\\''s/profline' '$x' \"$SLURM_ARRAY_TASK_ID\"\n");
}

TEST(SlurmScript, LeavesOutWhatIsNotWanted) {
  Options options;
  options.stderr_to_stdout = true;
  options.signal_delay_s = 0;
  const auto script = batch_script(options, {{4}, {"profline"}, "/s"});
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, Not(HasSubstr("--error")));
  EXPECT_THAT(*script, Not(HasSubstr("--signal")));
}

TEST(SlurmScript, AsksForASignalAheadOfThePartitionsLimitToo) {
  Options options;
  options.timeout_min.reset();
  const auto script = batch_script(options, {{4}, {"profline"}, "/s"});
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, Not(HasSubstr("--time")));
  EXPECT_THAT(*script, HasSubstr("#SBATCH --signal='B:USR2@120'\n"));
}

TEST(SlurmScript, KeepsPercentSignsOfItsFolder) {
  const auto script = batch_script({}, {{0}, {"profline"}, "/s/50%j"});
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("--output='/s/50%%j/%A_%a_log.out'\n"));
  EXPECT_THAT(*script, HasSubstr("--error='/s/50%%j/%A_%a_log.err'\n"));
}

TEST(SlurmOptions, TakeNumbersForTexts) {
  Node given = Node::map();
  given.as_map().set("account", Node::integer(12345));
  given.as_map().set("mem_per_cpu", Node::integer(4000));
  given.as_map().set("qos", Node::real(1.5));
  given.as_map().set("partition", Node::string("a,b"));
  const auto options = schema::read<Options>(given, "hydra.launcher");
  ASSERT_TRUE(options) << options.error().to_string();
  EXPECT_EQ(options->account, "12345");
  EXPECT_EQ(options->mem_per_cpu, "4000");
  EXPECT_EQ(options->qos, "1.5");
  EXPECT_EQ(options->partition, "a,b");
  given.as_map().set("account", Node::list());
  const auto wrong = schema::read<Options>(given, "hydra.launcher");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().to_string(),
            "hydra.launcher.account: must be a string or number or null, not a list");
}

TEST(SlurmScript, RefusesAValueThatWouldEndItsLine) {
  Options options;
  options.comment = "a\n#SBATCH --uid=0";
  const auto script = batch_script(options, {{0}, {"profline"}, "/s"});
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().to_string(),
            "hydra.launcher: the value of --comment for sbatch contains a line break");
}

TEST(SlurmScript, RefusesAParameterThatIsNotTheNameOfAnOption) {
  for (const bool as_flag : {false, true}) {
    for (const char* name : {"", "a b", "nice=1", "it's", "é"}) {
      Options options;
      options.additional_parameters = {{name, as_flag ? Node::boolean(true) : Node::integer(1)}};
      EXPECT_FALSE(batch_script(options, {{0}, {"profline"}, "/s"})) << name;
    }
  }
  Options options;
  Node value = Node::integer(1);
  value.set_mark({std::make_shared<const std::string>("conf/jobs.yaml"), 7, 9});
  options.additional_parameters = {{"nice\ntouch /tmp/x\n#", value}, {"a b", Node()}};
  const auto script = batch_script(options, {{0}, {"profline"}, "/s"});
  ASSERT_FALSE(script);
  std::vector<std::string> problems;
  for (const Error& problem : script.error().each()) problems.push_back(problem.to_string());
  const std::string why =
      "' is not the name of an option of sbatch: only letters, digits, '_' and '-' are allowed";
  EXPECT_THAT(problems,
              ElementsAre("hydra.launcher.additional_parameters: 'a b" + why,
                          "conf/jobs.yaml:7:9: hydra.launcher.additional_parameters: 'nice\\ntouch "
                          "/tmp/x\\n#" +
                              why));
}

TEST(SlurmFolder, EndsAheadOfTheFirstPlaceholder) {
  EXPECT_EQ(fixed_folder("/a/.submitit/%j"), "/a/.submitit");
  EXPECT_EQ(fixed_folder("/a/%A_%a/x"), "/a");
  EXPECT_EQ(fixed_folder("/a/b"), "/a/b");
}

TEST(SlurmQueue, ReadsTasksOfArrays) {
  const Tasks tasks = parse_queue(
      "12|3|RUNNING|None\n12|4|PENDING|BeginTime\n12|5|CANCELLED by 0|None\nbroken\n12|N/A|X|Y\n");
  EXPECT_THAT(tasks,
              ElementsAre(Pair(3, Task{"RUNNING", ""}), Pair(4, Task{"PENDING", "BeginTime"}),
                          Pair(5, Task{"CANCELLED", ""})));
}

TEST(SlurmAccounting, ReadsTasksThatNeverStartedToo) {
  EXPECT_THAT(parse_accounting("12_3|FAILED|1:0\n12_[4-5%2]|CANCELLED by 0|0:0\n12|X|0:0\n"),
              ElementsAre(Pair(3, Task{"FAILED", ""}), Pair(4, Task{"CANCELLED", ""}),
                          Pair(5, Task{"CANCELLED", ""})));
}

TEST(SlurmQueue, TakesAnUnknownJobForAnEndedOneAndNoAnswerForAnError) {
  testing::FakeProcesses processes;
  processes.expect({"squeue"})
      .complains("slurm_load_jobs error: Invalid job id specified\n")
      .exits(1);
  const auto gone = queue(processes, "12");
  ASSERT_TRUE(gone);
  EXPECT_THAT(*gone, IsEmpty());
  processes.expect({"squeue"}).complains("Unable to contact slurm controller\n").exits(1);
  EXPECT_FALSE(queue(processes, "12"));
  processes.expect({"sacct"}).complains("Slurm accounting storage is disabled\n").exits(1);
  EXPECT_FALSE(accounting(processes, "12"));
}

TEST(SlurmPreemption, IsSeenByTheTimeThatSlurmGives) {
  struct Case {
    const char* prints;
    bool preempted;
  };
  constexpr Case kCases[] = {
      {"2026-11-18T19:53:41           \n", true}, {"N/A                 \n", false}, {"", false}};
  for (const Case& c : kCases) {
    testing::FakeProcesses processes;
    processes.expect({"squeue"}).prints(c.prints);
    EXPECT_EQ(is_preempted(processes, "12_3"), c.preempted) << c.prints;
  }
  testing::FakeProcesses processes;
  processes.expect({"squeue"}).complains("Unable to contact slurm controller\n").exits(1);
  EXPECT_FALSE(is_preempted(processes, "12_3"));
}

TEST(SlurmSubmit, SaysHowLargeAnArrayMayBe) {
  testing::FakeProcesses processes;
  const auto refuse = [&] {
    processes.expect({"sbatch"})
        .complains("Batch job submission failed: Invalid job array specification\n")
        .exits(1);
  };
  refuse();
  processes.expect({"scontrol", "show", "config"})
      .prints("MaxArrayTasks = 5\nMaxArraySize            = 1001\n");
  const auto large = submit(processes, "/s/batch.sh", "");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().to_string(),
            "this cluster takes array jobs of at most 1000 tasks (MaxArraySize), and the sweep has "
            "more jobs: make several sweeps of it");
  refuse();
  processes.expect({"scontrol"}).exits(1);
  const auto silent = submit(processes, "/s/batch.sh", "");
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().to_string(), HasSubstr("Invalid job array specification"));
}

TEST(SlurmSubmit, ReturnsTheIdThatSbatchPrints) {
  testing::FakeProcesses processes;
  processes.expect({"sbatch", "--parsable", "/s/batch.sh"}).prints("123;cluster\n");
  EXPECT_EQ(submit(processes, "/s/batch.sh", "").value_or(""), "123");
  processes.expect({"sbatch"}).prints("hello\n");
  const auto odd = submit(processes, "/s/batch.sh", "");
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().to_string(), HasSubstr("sbatch printed 'hello' instead of a job id; "));
  EXPECT_EQ(odd.error().reason(), kMayHaveJobs);
}

Exit exit_of(std::optional<int> code, std::optional<int> signal = {},
             Exit::Why why = Exit::Why::Own) {
  Exit exit;
  exit.code = code;
  exit.signal = signal;
  exit.why = why;
  return exit;
}

TEST(SlurmSubmit, TellsARefusalFromALostAnswer) {
  struct Case {
    std::string_view name;
    std::string said;
    Exit exit;
    bool may_have_jobs;
  };
  const std::string failed = "sbatch: error: Batch job submission failed: ";
  const std::string away = failed + "Unable to contact slurm controller ";
  const Case cases[] = {
      {"a wrong option", "sbatch: error: Invalid numeric value for --nice\n", exit_of(255), false},
      {"refused", failed + "Invalid qos specification\n", exit_of(1), false},
      {"no controller", away + "(connect failure)\n", exit_of(1), false},
      {"no answer", failed + "Socket timed out on send/recv operation\n", exit_of(1), true},
      {"a lost answer", failed + "Zero Bytes were transmitted or received\n", exit_of(1), true},
      {"half an answer", away + "(receive failure)\n", exit_of(1), true},
      {"killed", "", exit_of({}, 9), true},
      {"stopped by us", "", exit_of(1, {}, Exit::Why::TimedOut), true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    testing::FakeProcesses processes;
    processes.expect({"sbatch"}).complains(c.said).ends(c.exit);
    const auto id = submit(processes, "/s/batch.sh", "");
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().reason() == kMayHaveJobs, c.may_have_jobs) << id.error().to_string();
  }
}

TEST(SlurmSubmit, KeepsVariablesFromOverridingTheScript) {
  Options options;
  options.mem_gb = 1;
  options.additional_parameters = {{"mail_type", Node::string("END")}};
  const std::string script = batch_script(options, {{0, 1}, {"profline"}, "/s"}).value_or("");
  testing::FakeProcesses processes;
  processes.expect({"sbatch"}).complains("sbatch: warning: busy\n").prints("12\n");
  EXPECT_EQ(submit(processes, "/s/batch.sh", script).value_or(""), "12");
  const auto& unset = processes.commands().front().unset_env;
  for (const char* name :
       {"SBATCH_ARRAY_INX", "SBATCH_TIMELIMIT", "SBATCH_OUTPUT", "SBATCH_OPEN_MODE",
        "SBATCH_MEM_PER_CPU", "SBATCH_MAIL_TYPE", "SBATCH_NO_REQUEUE", "SBATCH_WAIT"}) {
    EXPECT_THAT(unset, Contains(name));
  }
  EXPECT_THAT(unset, Not(Contains("SBATCH_PARTITION"))) << "it is not set";
}

}  // namespace
}  // namespace profline::slurm
