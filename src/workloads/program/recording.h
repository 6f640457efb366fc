#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/recorded_program.h"
#include "records/request.h"
#include "workloads/program/python_record.h"

/// What was recorded of a user's program: by the adapter in its Python processes, and by the
/// recorder of its ranges.
namespace profline::program {

struct Recording {
  std::vector<Request> requests;  ///< in the order in which they began
  std::vector<RecordedModel> models;
  std::vector<NamedRanges> ranges;  ///< all recorded ranges, by name
  std::vector<Mark> marks;
  std::vector<Gate> gates;
  std::vector<std::string> problems;  ///< what could not be recorded or read, one sentence each
  std::uint64_t lost = 0;             ///< ranges that could not be recorded
  std::uint64_t python_processes = 0;
  bool adapter_started = false;       ///< in some Python process, which may have recorded nothing
  std::uint64_t range_processes = 0;  ///< processes that the recorder was loaded into
};

struct RecordingOptions {
  std::string request_range = "request";
};

/// Reads everything in a stage's folder of recordings. If a Python process recorded requests, those
/// are the requests, and ranges inside them become additional phases; otherwise the ranges named
/// `request_range` are. A folder without files, or no folder, is an empty recording.
Result<Recording> read_recording(const std::filesystem::path& folder,
                                 const RecordingOptions& options = {});

/// The requests that profilers should capture: at most the first three of the longest run of steady
/// requests (docs/steady-state.md). Of several processes that recorded requests, the one with the
/// most requests decides, and their numbers count in each process by itself.
SteadyWindow steady_window(const Recording& recording);

}  // namespace profline::program
