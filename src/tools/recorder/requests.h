#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/request.h"
#include "tools/recorder/recording.h"

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
