#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/kernel_use.h"

namespace profline::kernels {

/// The kernel table of one tool.
struct KernelTable {
  std::string tool;             ///< "nsys", "ncu", "Kineto": for messages
  std::vector<KernelUse> rows;  ///< by printed_name, grid and block
  /// The tool shows only function names (`--kernel-name-base function`, nsys' short names).
  bool function_names_only = false;
};

enum class JoinState : std::uint8_t { Matched, Ambiguous, Unmatched };

/// One kernel and its rows.
struct JoinedKernel {
  JoinState state = JoinState::Unmatched;
  std::string name;  ///< canonical, in the fullest spelling available
  std::string short_name;
  std::vector<std::uint32_t> grid;  ///< empty: not known
  std::vector<std::uint32_t> block;
  /// Its rows, per table in the given order. If Ambiguous, the rows that cannot be distinguished.
  std::vector<std::vector<std::size_t>> rows;
  std::string reason;  ///< why it is not matched; empty if it is
};

struct Joined {
  std::vector<JoinedKernel> kernels;  ///< in order of first appearance, table by table

  /// Share of the first table's time in kernels that are matched in all tables; 0 without any time.
  double matched_share = 0;
};

/// Joins tables of the same program by canonical name and launch shape. Matched: the kernel is in
/// every table, unambiguously. Ambiguous: two kernels of one table agree in everything that another
/// table says about them. Unmatched: a table lacks it. Every row belongs to exactly one kernel.
Joined join(std::span<const KernelTable> tables);

}  // namespace profline::kernels
