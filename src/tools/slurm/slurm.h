#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "process/runner.h"
#include "schema/codec.h"
#include "schema/field.h"

/// Slurm: array jobs through sbatch, what squeue and sacct know of them, scontrol and scancel.
namespace profline::slurm {

/// A text that may be written as a number, as in Hydra: `account=12345`, `mem_per_cpu=4000`.
struct Text : std::string {
  using std::string::string;
};

/// The keys of Hydra's submitit launcher, as in `hydra.launcher`.
struct Options {
  std::string submitit_folder;
  std::optional<std::int64_t> timeout_min = 60;
  std::optional<std::int64_t> cpus_per_task;
  std::optional<std::int64_t> gpus_per_node;
  std::optional<std::int64_t> tasks_per_node = 1;
  std::optional<double> mem_gb;
  std::optional<std::int64_t> nodes = 1;
  std::optional<Text> name;
  bool stderr_to_stdout = false;
  std::optional<Text> partition;
  std::optional<Text> qos;
  std::optional<Text> account;
  std::optional<Text> comment;
  std::optional<Text> constraint;
  std::optional<Text> exclude;
  std::optional<Text> gres;
  std::optional<std::int64_t> cpus_per_gpu;
  std::optional<std::int64_t> gpus_per_task;
  std::optional<Text> mem_per_gpu;
  std::optional<Text> mem_per_cpu;
  std::int64_t max_num_timeout = 3;
  std::int64_t signal_delay_s = 120;
  std::map<std::string, Node> additional_parameters;
  std::int64_t array_parallelism = 256;
  std::optional<std::vector<std::string>> setup;

  bool operator==(const Options&) const = default;
};
constexpr auto fields(std::type_identity<Options>) {
  return field_list(
      field("submitit_folder", &Options::submitit_folder,
            "the batch script and Slurm's output go here; a part with %j and what follows it is "
            "left out"),
      field("timeout_min", &Options::timeout_min, "time limit of a job in minutes").at_least(1),
      field("cpus_per_task", &Options::cpus_per_task, "CPUs for a job").at_least(1),
      field("gpus_per_node", &Options::gpus_per_node, "GPUs on each node").at_least(0),
      field("tasks_per_node", &Options::tasks_per_node,
            "tasks that Slurm makes room for on each node; profline itself is one process")
          .at_least(1),
      field("mem_gb", &Options::mem_gb, "memory on each node in GB").above(0),
      field("nodes", &Options::nodes, "nodes for a job").at_least(1),
      field("name", &Options::name, "the job's name in the queue"),
      field("stderr_to_stdout", &Options::stderr_to_stdout, "one output file instead of two"),
      field("partition", &Options::partition, "partitions, separated by commas"),
      field("qos", &Options::qos, "quality of service"),
      field("account", &Options::account, "charge this account"),
      field("comment", &Options::comment, "free text in Slurm's records"),
      field("constraint", &Options::constraint, "features that nodes must have"),
      field("exclude", &Options::exclude, "nodes not to use"),
      field("gres", &Options::gres, "generic resources, such as gpu:2"),
      field("cpus_per_gpu", &Options::cpus_per_gpu, "CPUs for each GPU").at_least(1),
      field("gpus_per_task", &Options::gpus_per_task, "GPUs for each task").at_least(1),
      field("mem_per_gpu", &Options::mem_per_gpu, "memory for each GPU, such as 40G"),
      field("mem_per_cpu", &Options::mem_per_cpu, "memory for each CPU, such as 4G"),
      field("max_num_timeout", &Options::max_num_timeout,
            "how often a job that reaches its time limit is queued again")
          .at_least(0),
      field("signal_delay_s", &Options::signal_delay_s,
            "seconds ahead of the time limit at which a job gets the signal to stop")
          .range(0, 65535),
      field("additional_parameters", &Options::additional_parameters,
            "other options of sbatch, by name without dashes; true for one without a value"),
      field("array_parallelism", &Options::array_parallelism, "most jobs that run at once")
          .at_least(1),
      field("setup", &Options::setup,
            "lines of shell for the start of the batch script, such as module load cuda"));
}

/// An array job: the tasks with these indexes run `command`, with the index as its last word.
struct ArrayJob {
  std::vector<std::size_t> indexes;
  std::vector<std::string> command;
  std::filesystem::path folder;  ///< for Slurm's output
};

/// `0-3,7` for 0, 1, 2, 3, 7; the numbers are ascending.
std::string array_text(std::span<const std::size_t> indexes);
/// The numbers of such a text, a limit (`%4`) ignored; empty if it is not one.
std::vector<std::size_t> parse_array_text(std::string_view text);

/// The batch script. Every word is quoted; only `setup` reaches the shell as written. An Error of
/// kind Config for a value that a script cannot hold.
Result<std::string> batch_script(const Options& options, const ArrayJob& job);

/// A folder for the script and Slurm's output: `submitit_folder` up to the first part with a `%`.
std::filesystem::path fixed_folder(const std::filesystem::path& submitit_folder);

/// The reason of an Error after which Slurm may have the job all the same.
inline constexpr const char* kMayHaveJobs = "slurm_may_have_jobs";

/// Variables of sbatch (`SBATCH_TIMELIMIT`) that would override the `#SBATCH` lines of a script, or
/// make sbatch wait for its jobs.
std::vector<std::string> overriding_variables(std::string_view script);

/// Submits the script in a file with this text; returns the id of the array job. If the array is
/// larger than the cluster allows, the Error says how large it may be. An Error has the reason
/// kMayHaveJobs unless sbatch itself said that the submission failed.
Result<std::string> submit(ProcessRunner& runner, const std::filesystem::path& script,
                           std::string_view text);

/// What Slurm says about a task of an array.
struct Task {
  std::string state =
      {};  ///< `PENDING`, `NODE_FAIL`; without what may follow, as in `CANCELLED by 0`
  std::string reason = {};  ///< why it waits or ended; may be empty

  bool operator==(const Task&) const = default;
};
using Tasks = std::map<std::size_t, Task>;  ///< by index

Tasks parse_queue(std::string_view text);
Tasks parse_accounting(std::string_view text);

/// The tasks that squeue lists, ended ones too for as long as the controller remembers them. Empty
/// if it does not know the job any more. An Error if the controller does not answer.
Result<Tasks> queue(ProcessRunner& runner, const std::string& array_job);

/// The tasks that sacct knows; nothing where accounting is off or does not answer.
std::optional<Tasks> accounting(ProcessRunner& runner, const std::string& array_job);

/// Whether Slurm is preempting the task (`123_4`). False if Slurm does not answer.
bool is_preempted(ProcessRunner& runner, const std::string& task);

/// Cancels tasks of an array job.
Result<void> cancel(ProcessRunner& runner, const std::string& array_job,
                    std::span<const std::size_t> indexes);

/// Puts a running task back into the queue under its id: `123_4`.
Result<void> requeue(ProcessRunner& runner, const std::string& task);

/// Lets a task that Slurm holds wait for resources again.
Result<void> release(ProcessRunner& runner, const std::string& task);

/// What Slurm puts into the environment of a job.
struct Surroundings {
  std::string task;           ///< `123_4`; empty: not started by Slurm
  std::string node;           ///< `n2`
  std::int64_t restarts = 0;  ///< how often Slurm started it before
};
Surroundings surroundings();

}  // namespace profline::slurm

namespace profline::schema {

template <>
struct Codec<slurm::Text> {
  static constexpr Kinds kKinds{Node::Kind::String, Node::Kind::Int, Node::Kind::BigInt,
                                Node::Kind::Float};
  static std::string text(const Limits&) { return "string or number"; }
  static void read(const Node& node, slurm::Text& value, Reader& reader);
  static Node write(const slurm::Text& value) { return Node::string(value); }
};

}  // namespace profline::schema
