#include "doctor/launchers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.h"

namespace profline::doctor {
namespace {

constexpr const char* kOtherwise = "only for pipeline.workload.ranks.launcher=";

Finding absent(const std::string& name, const std::string& package) {
  return {name, State::Missing, "not on PATH",
          kOtherwise + name + ": install " + package + ", or put its folder on PATH"};
}

std::string first_line(const std::string& text) {
  const auto all = lines(text);
  return all.empty() ? "" : std::string(trim(all.front()));
}

/// Slurm's programs explain a failure in several lines, of which the last is the failure itself.
std::string last_line(const std::string& text) {
  const auto all = lines(trim(text));
  return all.empty() ? "" : std::string(all.back());
}

/// `2 idle, 1 down`, from one line each.
std::string nodes_text(const std::string& said) {
  const auto all = lines(trim(said));
  return join(std::vector<std::string>(all.begin(), all.end()), ", ");
}

bool has_line(const std::string& text, std::string_view word) {
  const auto all = lines(text);
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view line) { return trim(line) == word; });
}

Result<std::string> ask(ProcessRunner& processes, const std::string& name,
                        std::vector<std::string> words) {
  words.insert(words.begin(), PL_TRY(find_program(name)).string());
  return output_of(processes, std::move(words));
}

}  // namespace

Finding judge_srun(const Result<std::string>& version, const Result<std::string>& nodes,
                   const Result<std::string>& mpi) {
  if (!version && version.error().kind() == ErrorKind::NotFound) {
    return absent("srun", "Slurm's client (Debian: apt-get install slurm-client)");
  }
  if (!version) {
    return {"srun", State::Broken, last_line(version.error().to_string()),
            "check the cluster's slurm.conf, which SLURM_CONF may name"};
  }
  Finding finding{"srun", State::Found, first_line(*version)};
  if (!nodes) {
    finding.state = State::Broken;
    finding.detail += ": the controller does not answer: " + last_line(nodes.error().to_string());
    finding.fix = "check SLURM_CONF, and slurmctld with 'scontrol ping'";
    return finding;
  }
  finding.detail += "; nodes: " + nodes_text(*nodes);
  if (mpi && !has_line(*mpi, "pmix")) {
    finding.detail +=
        "; without PMIx: ranks linked with Open MPI do not find each other under srun";
  }
  return finding;
}

Finding judge_mpirun(const Result<std::string>& version, bool privileged, bool root_is_allowed) {
  if (!version && version.error().kind() == ErrorKind::NotFound) {
    return absent("mpirun", "Open MPI (Debian: apt-get install openmpi-bin)");
  }
  if (!version) {
    return {"mpirun", State::Broken, version.error().to_string(), "reinstall it"};
  }
  Finding finding{"mpirun", State::Found, first_line(*version)};
  if (finding.detail.find("Open MPI") == std::string::npos) {
    finding.state = State::Broken;
    finding.detail += ": not Open MPI, whose options profline uses";
    finding.fix = "put Open MPI's mpirun first on PATH, or use srun";
  } else if (privileged && !root_is_allowed) {
    finding.state = State::Broken;
    finding.detail += ": refuses to run as root";
    finding.fix =
        "run as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  }
  return finding;
}

Finding judge_torchrun(const Result<std::string>& help) {
  if (!help && help.error().kind() == ErrorKind::NotFound) {
    return absent("torchrun", "PyTorch");
  }
  if (!help) {
    return {"torchrun", State::Broken, help.error().to_string(),
            "activate the environment whose PyTorch it belongs to"};
  }
  const bool runs_any = help->find("--no-python") != std::string::npos ||
                        help->find("--no_python") != std::string::npos;
  if (runs_any) return {"torchrun", State::Found, "starts any program (--no-python)"};
  return {"torchrun", State::Broken, "does not have --no-python",
          "update PyTorch to 1.10 or newer"};
}

std::vector<std::string> optional_launchers(const std::vector<Finding>& findings,
                                            const std::vector<std::string>& required) {
  constexpr std::array<std::string_view, 3> kLaunchers = {"srun", "mpirun", "torchrun"};
  std::vector<std::string> names;
  for (const Finding& finding : findings) {
    const bool is_launcher =
        std::find(kLaunchers.begin(), kLaunchers.end(), finding.name) != kLaunchers.end();
    const bool is_required =
        std::find(required.begin(), required.end(), finding.name) != required.end();
    if (is_launcher && !is_required && finding.state != State::Found) names.push_back(finding.name);
  }
  return names;
}

Finding check_srun(ProcessRunner& processes, const std::string& name) {
  const auto version = ask(processes, name, {"--version"});
  if (!version) return judge_srun(version, version, version);
  const auto nodes = ask(processes, "sinfo", {"-h", "-o", "%D %T"});
  return judge_srun(version, nodes, ask(processes, name, {"--mpi=list"}));
}

Finding check_mpirun(ProcessRunner& processes, const std::string& name, bool privileged) {
  const auto is_set = [](const char* variable) {
    return environment_variable(variable).value_or("") == "1";
  };
  const bool allowed = is_set("OMPI_ALLOW_RUN_AS_ROOT") && is_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
  return judge_mpirun(ask(processes, name, {"--version"}), privileged, allowed);
}

Finding check_torchrun(ProcessRunner& processes, const std::string& name) {
  return judge_torchrun(ask(processes, name, {"--help"}));
}

}  // namespace profline::doctor
