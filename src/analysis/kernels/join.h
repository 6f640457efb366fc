#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profline::kernels {

/// A row of a table of kernels as one tool has it.
struct KernelRow {
  std::string name;                     ///< as the tool wrote it
  std::array<std::uint32_t, 3> grid{};  ///< zeros: the tool does not say
  std::array<std::uint32_t, 3> block{};
  std::uint64_t launches = 0;
  std::int64_t time_ns = 0;  ///< of all launches

  bool operator==(const KernelRow&) const = default;
};

struct KernelTable {
  std::string tool;  ///< "nsys", "ncu", "Kineto": for messages
  std::vector<KernelRow> rows;
  /// The tool shows names of functions only (`--kernel-name-base function`, nsys' short names).
  bool function_names_only = false;
};

enum class JoinState : std::uint8_t { Matched, Ambiguous, Unmatched };

/// One kernel, and the rows that are of it.
struct JoinedKernel {
  JoinState state = JoinState::Unmatched;
  std::string name;  ///< canonical, the fullest spelling there is
  std::string short_name;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
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
