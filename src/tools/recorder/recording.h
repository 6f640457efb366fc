#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/document.h"
#include "records/recorded_program.h"
#include "records/request.h"

/// Reads what libprofline-recorder.so wrote: `ranges-<pid>-<time>.bin`, one file per process.
/// docs/formats/recorded.md describes it.
namespace profline::recorder {

/// A range that a program opened. Names are positions in a list, because a program may open 10^7
/// ranges.
struct RecordedRange {
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t end_ns = 0;    ///< of an incomplete range: the time of its thread's last event
  std::uint32_t name = 0;     ///< in ProcessRanges::names
  std::uint32_t domain = 0;   ///< in the same list; 0: the default domain
  std::uint32_t thread = 0;   ///< in ProcessRanges::threads
  std::int32_t parent = -1;   ///< the range around it on its thread, earlier in the list; -1: none
  std::uint16_t depth = 0;    ///< number of ranges around it
  bool complete = false;      ///< it ended
  bool request = false;       ///< the program called it a request, whatever its name
  /// It began and ended with calls that may come from different threads; `thread` is where it
  /// began.
  bool across_threads = false;

  bool operator==(const RecordedRange&) const = default;
  std::int64_t ns() const { return end_ns - start_ns; }
};

/// The end of a step in a range.
struct RecordedStep {
  std::uint32_t range = 0;
  std::int64_t end_ns = 0;

  bool operator==(const RecordedStep&) const = default;
};

/// A number that the program gave while a range was open.
struct RecordedNumber {
  std::uint32_t range = 0;
  std::uint32_t name = 0;
  std::uint64_t value = 0;

  bool operator==(const RecordedNumber&) const = default;
};

struct RecordedMark {
  std::int64_t at_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t domain = 0;
  std::uint32_t thread = 0;

  bool operator==(const RecordedMark&) const = default;
};

/// One process.
struct ProcessRanges {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::string program;  ///< `python3`
  bool forked = false;  ///< from a process that was recording, without exec
  std::int64_t start_ns = 0;
  std::int64_t start_unix_ns = 0;
  std::vector<std::string> names;      ///< valid UTF-8; the first is empty
  std::vector<std::uint32_t> threads;  ///< as the kernel numbers them; a number may occur twice
  std::vector<RecordedRange> ranges;   ///< of each thread in the order in which they began
  std::vector<RecordedStep> steps;     ///< in order of time within a range
  std::vector<RecordedNumber> numbers;
  std::vector<RecordedMark> marks;
  std::uint64_t unbalanced = 0;  ///< ends without a beginning
  std::uint64_t unfinished = 0;  ///< ranges without an end
  Reading reading;  ///< events used and skipped; `losses` and `lost`: what was not recorded

  const std::string& name(const RecordedRange& range) const { return names[range.name]; }
  /// `decode`, `domain:decode`.
  std::string label(const RecordedRange& range) const;
};

/// Parses one file; `source` names it in messages. Damaged parts are skipped, and reported in
/// `reading`. An Error if it is not such a file, or a file of a newer version.
Result<ProcessRanges> parse_recording(std::string_view bytes, const std::string& source);

/// The number of the process in a file's name; 0 if it is not the name of a recording.
std::uint32_t pid_of_recording(std::string_view file_name);

/// Reads one file. An empty file is not an Error: its process had no space to write; `losses` says
/// so.
Result<ProcessRanges> read_recording(const std::filesystem::path& path);

/// What was recorded into a folder.
struct RecordedFolder {
  std::vector<ProcessRanges> processes;  ///< in the order in which they began to record
  std::vector<std::string> problems;     ///< unreadable files and lost events, one sentence each
};

/// Reads all recordings of a folder; other files in it are left alone.
Result<RecordedFolder> read_recordings(const std::filesystem::path& folder);

/// All ranges of the processes by domain and name, longest total time first. Used for a program
/// that marks no requests.
std::vector<NamedRanges> ranges_by_name(std::span<const ProcessRanges> processes);

}  // namespace profline::recorder

/// Requests and their phases, from the ranges that a program opened.
namespace profline::recorder {

struct RecordedRequests {
  std::vector<Request> requests;   ///< by start; numbered from 0
  std::vector<std::string> notes;  ///< what could not be assigned, one sentence each
};

/// The complete ranges with this name are requests (`name`, or `domain:name`), and so are those
/// that the program called requests. Inside another request such a range is a phase.
///
/// - The ranges inside a request, on its thread, are its phases; instances of a phase are added up.
/// - If one child of a phase repeats, its instances are the steps of the phase. A phase directly in
///   the request that repeats and has no steps has its instances as steps.
/// - Steps that the program marked itself take precedence over both.
/// - A range opened and closed by start and end calls is a phase if exactly one request was open
///   around it; so is a range on another thread than its request, if start and end calls opened and
///   closed that request.
///
/// The attributes `pid` and `thread` of a request say where it ran.
RecordedRequests requests_of(std::span<const ProcessRanges> processes,
                             std::string_view request_range);

/// The phases of a request that something else observed, such as the Python adapter: the ranges of
/// a thread within a span of time, by the same rules.
std::vector<Phase> phases_inside(const ProcessRanges& process, std::uint32_t thread,
                                 std::int64_t start_ns, std::int64_t end_ns);

}  // namespace profline::recorder
