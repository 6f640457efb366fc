#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/capture.h"

/// Which captures belong to the ranks of one job, from the collectives that they have in common.
namespace profline::ranks {

/// Captures of ranks, and what a reader must know of those that are not.
struct Job {
  std::vector<Capture> captures;
  std::vector<std::string> notes;
};

/// Whether each capture shares at least kFewestCollectives with others.
bool share_collectives(std::span<const Capture> captures);

/// Which captures are known to be of the same program.
enum class SameProgram {
  InAFile,  ///< those in the same file
  All,
};

/// Without the processes of a program that share fewer collectives, if others of the same program
/// share enough: programs have helpers that use a device and are no ranks.
Job without_helpers(std::vector<Capture> captures, SameProgram same = SameProgram::InAFile);

/// The processes in a capture that used a device, if several of them communicated with each other;
/// else nothing.
Job processes_as_ranks(const Timeline& timeline, const kernels::Classifier& classes);

}  // namespace profline::ranks
