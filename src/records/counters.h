#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/document.h"
#include "records/timeline.h"

/// What a profiler of hardware counters (ncu) reports about single kernels and ranges: numbers by
/// name, in base units. Shared by its readers and the roofline.
namespace profline {

/// One number. Times are in ns, rates in 1/s (`byte/s`, `hz`), sizes in `byte`; values that a tool
/// scaled (`Mbyte`, `usecond`) were scaled back.
struct Counter {
  Names::Id name = 0;     ///< `dram__bytes.sum`, or a label: `DRAM Throughput`
  Names::Id section = 0;  ///< of a label, which several sections may use; may be empty
  Names::Id unit = 0;     ///< `ns`, `byte/s`, `%`; empty: a plain number
  double value = 0;

  bool operator==(const Counter&) const = default;
};

/// A value that is text: `device__attribute_display_name` is `NVIDIA H200`.
struct CounterText {
  Names::Id name = 0;
  Names::Id section = 0;
  Names::Id text = 0;

  bool operator==(const CounterText&) const = default;
};

/// The tool's own advice.
struct CounterAdvice {
  Names::Id section = 0;
  Names::Id rule = 0;  ///< `SOLBottleneck`
  Names::Id kind = 0;  ///< `OPT`, `WRN`, `INF`
  Names::Id text = 0;

  bool operator==(const CounterAdvice&) const = default;
};

/// A range of the program that was open at the launch.
struct OpenRange {
  Names::Id domain = 0;  ///< empty: the default domain
  Names::Id name = 0;
  RangeKind kind = RangeKind::PushPop;

  bool operator==(const OpenRange&) const = default;
};

/// One profiled kernel; with range replay, one profiled range.
struct ProfiledKernel {
  std::optional<std::uint64_t> id;  ///< the tool's; no value for a summary over launches
  std::int64_t process = 0;
  Names::Id process_name = 0;
  Names::Id name = 0;  ///< as the tool wrote it; for a range: its innermost label, if any
  bool is_range = false;
  LaunchShape shape;  ///< zeros if the tool does not report it
  std::int32_t device = 0;
  Names::Id device_name = 0;         ///< `NVIDIA H200`; empty: not reported
  Names::Id compute_capability = 0;  ///< `9.0`
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> stream;
  std::uint64_t launches = 1;     ///< the numbers are means over this many
  std::vector<OpenRange> ranges;  ///< outermost first
  std::vector<Counter> counters;  ///< in the order of the file
  std::vector<CounterText> texts;
  std::vector<CounterAdvice> advice;
};

/// What happened to the cells that hold counters. The fields add up to the cells of the rows used.
struct CounterCells {
  std::uint64_t numbers = 0;
  std::uint64_t texts = 0;
  std::uint64_t absent = 0;    ///< empty, `n/a`, `nan`, `inf`: not a number
  std::uint64_t left_out = 0;  ///< not requested

  bool operator==(const CounterCells&) const = default;
};

/// The content of one report, or of several reports of one program.
struct CounterReport {
  std::string source;  ///< the file
  Names names;
  std::vector<ProfiledKernel> kernels;  ///< in the order of the file
  CounterCells cells;
  Reading reading;  ///< of the rows

  /// The counter of this name; for a label in several sections the first, unless a section is
  /// given. Null if the report does not have it.
  const Counter* find(const ProfiledKernel& kernel, std::string_view name,
                      std::string_view section = {}) const;

  /// Appends the other report's kernels.
  void append(const CounterReport& other);
};

}  // namespace profline
