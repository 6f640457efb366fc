#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/recorded_program.h"
#include "records/request.h"
#include "schema/field.h"

namespace profline::program {

/// A request with the place where it ran.
struct PlacedRequest {
  Request request;
  std::int64_t pid = 0;
  std::uint64_t thread = 0;
  std::optional<std::uint64_t> model{};

  bool operator==(const PlacedRequest&) const = default;
};

/// An event that happens once or occasionally, such as the capture of a CUDA graph.
struct Mark {
  std::string name;
  std::int64_t at_ns = 0;
  std::int64_t ns = 0;
  std::int64_t pid = 0;  ///< of the process that the file is about

  bool operator==(const Mark&) const = default;
};
constexpr auto fields(std::type_identity<Mark>) {
  return field_list(field("name", &Mark::name, "graph_capture, compile").required(),
                    field("at_ns", &Mark::at_ns, "by the machine's monotonic clock").required(),
                    field("ns", &Mark::ns, "how long it took"));
}

/// A phase outside requests.
struct LooseRange {
  std::string path;
  std::int64_t ns = 0;

  bool operator==(const LooseRange&) const = default;
};
constexpr auto fields(std::type_identity<LooseRange>) {
  return field_list(field("path", &LooseRange::path, "as in requests").required(),
                    field("ns", &LooseRange::ns, "how long it took").required().at_least(0));
}

/// What the adapter opened for a profiler, and around which requests.
struct Gate {
  std::string gate;
  std::vector<std::uint64_t> requests;
  std::optional<std::int64_t> opened_ns;
  std::optional<std::int64_t> closed_ns;
  std::optional<std::string> trace;
  std::int64_t pid = 0;  ///< of the process that opened it

  bool operator==(const Gate&) const = default;
};
constexpr auto fields(std::type_identity<Gate>) {
  return field_list(field("gate", &Gate::gate, "cuda or torch").required(),
                    field("requests", &Gate::requests, "counted from 0 in their process"),
                    field("opened_ns", &Gate::opened_ns, "by the machine's monotonic clock"),
                    field("closed_ns", &Gate::closed_ns, "by the machine's monotonic clock"),
                    field("trace", &Gate::trace, "the file with what was captured"));
}

/// The file of one Python process.
struct PythonRecord {
  std::int64_t pid = 0;
  std::string python;                  ///< its version
  std::string started{};               ///< `infer.py`, `-m module`, `-c`, `multiprocessing`
  std::optional<std::string> torch{};  ///< version, if it was imported
  std::optional<std::string> transformers{};
  std::vector<PlacedRequest> requests;
  std::vector<RecordedModel> models;
  std::vector<Mark> marks;
  std::vector<Gate> gates;
  std::vector<LooseRange> ranges;
  std::vector<std::string> problems;  ///< the adapter's own
  std::vector<std::string> skipped;   ///< lines that could not be read, with their numbers
};

/// Reads what the Python adapter wrote, one JSON object per line. A line that cannot be read is
/// skipped; unknown keys are ignored, so that another version's file can be read. `source` names
/// the file in messages.
PythonRecord parse_python_record(std::string_view text, const std::string& source);

}  // namespace profline::program
