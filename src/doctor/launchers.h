#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/checks.h"
#include "process/runner.h"

/// The launchers of programs with several ranks: whether they are here and would start something.
namespace profline::doctor {

// Pure functions of what was read.

/// `version`: the output of `srun --version`; `nodes`: of `sinfo -h -o '%D %T'`, for which the
/// controller must answer; `mpi`: of `srun --mpi=list`.
Finding judge_srun(const Result<std::string>& version, const Result<std::string>& nodes,
                   const Result<std::string>& mpi);

/// `version`: the output of `mpirun --version`. Open MPI refuses to work for root unless it is
/// allowed to.
Finding judge_mpirun(const Result<std::string>& version, bool privileged, bool root_is_allowed);

/// `help`: the output of `torchrun --help`.
Finding judge_torchrun(const Result<std::string>& help);

/// The launchers that could not start anything here and that `required` does not name. They matter
/// only to those whose programs have several ranks, and one launcher is enough.
std::vector<std::string> optional_launchers(const std::vector<Finding>& findings,
                                            const std::vector<std::string>& required);

// The same on this machine; `name` is looked for on PATH.

Finding check_srun(ProcessRunner& processes, const std::string& name);
Finding check_mpirun(ProcessRunner& processes, const std::string& name, bool privileged);
Finding check_torchrun(ProcessRunner& processes, const std::string& name);

}  // namespace profline::doctor
