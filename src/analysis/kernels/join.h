#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/kernel_use.h"

namespace profline::kernels {

/// A table of kernels as one tool has it.
struct KernelTable {
  std::string tool;             ///< "nsys", "ncu", "Kineto": for messages
  std::vector<KernelUse> rows;  ///< by printed_name, grid and block
  /// The tool shows names of functions only (`--kernel-name-base function`, nsys' short names).
  bool function_names_only = false;
};

enum class JoinState : std::uint8_t { Matched, Ambiguous, Unmatched };

/// One kernel, and the rows that are of it.
struct JoinedKernel {
  JoinState state = JoinState::Unmatched;
  std::string name;  ///< canonical, the fullest spelling there is
  std::string short_name;
  std::vector<std::uint32_t> grid;  ///< empty: no tool says
  std::vector<std::uint32_t> block;
  /// By table, in the order given: its rows of this kernel. With Ambiguous the rows that cannot be
  /// told apart.
  std::vector<std::vector<std::size_t>> rows;
  std::string reason;  ///< why it is not matched; empty when it is
};

struct Joined {
  std::vector<JoinedKernel> kernels;  ///< in the order of first sight, tables one after another

  /// Share of the first table's time in kernels that are matched in all tables; 0 with no time.
  double matched_share = 0;
};

/// Joins tables of the same program by canonical name and launch shape. Matched: the kernel is in
/// every table and nothing else could be meant. Ambiguous: rows of two kernels of one table agree
/// in all that another table says of them. Unmatched: a table does not have it. Every row is in
/// exactly one kernel.
Joined join(std::span<const KernelTable> tables);

}  // namespace profline::kernels
