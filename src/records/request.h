#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"

/// One unit of useful work and its parts: what every workload reports and every page shows.
/// docs/formats/requests.md describes the file, requests.jsonl.
namespace profline {

/// A named part of a request. Names are data: each workload has its own.
struct Phase {
  std::string path;                      ///< `decode`, `prefill/attention`
  std::optional<std::int64_t> start_ns;  ///< since the request's start
  std::int64_t ns = 0;
  std::optional<std::vector<std::int64_t>> steps_ns;  ///< only for a phase that repeats
  std::optional<bool> host =
      {};  ///< work of the host before the model; no profiler's range holds it

  bool operator==(const Phase&) const = default;
};
constexpr auto fields(std::type_identity<Phase>) {
  return field_list(
      field("path", &Phase::path, "names from the outermost phase to this one, joined with /")
          .required(),
      field("start_ns", &Phase::start_ns, "since the request's start"),
      field("ns", &Phase::ns, "how long it took").required().at_least(0),
      field("steps_ns", &Phase::steps_ns,
            "how long each step took; left out: the phase does not repeat"),
      field("host", &Phase::host, "work of the host before the model; no profiler records it"));
}

/// The observer of a request.
enum class RequestSource {
  Builtin,  ///< the built-in workload itself
  Nvtx,     ///< ranges that the program opened
  Python,   ///< the adapter in a Python program
  Client,   ///< its sender
};
constexpr auto names(std::type_identity<RequestSource>) {
  return std::array{named(RequestSource::Builtin, "builtin"), named(RequestSource::Nvtx, "nvtx"),
                    named(RequestSource::Python, "python"), named(RequestSource::Client, "client")};
}

// Attributes that profline itself reads; docs/formats/requests.md.

/// A list: one-time events that the workload itself observed during the request, such as
/// `graph_capture` or `compile`.
constexpr const char* kOneTimeAttribute = "one_time";
/// A text: what kernels and graphs are prepared for besides the number of tokens and the batch.
constexpr const char* kShapeAttribute = "shape";
/// A text: the size of the image, which the host's work depends on.
constexpr const char* kImageSizeAttribute = "image_size";
/// A text: the image.
constexpr const char* kImageAttribute = "image";
/// A list of texts: the images that were generated together, one for each sequence.
constexpr const char* kImagesAttribute = "images";
// Lists: for each sequence of a batch, its tokens and why it ended.
constexpr const char* kPromptTokensEachAttribute = "prompt_tokens_each";
constexpr const char* kNewTokensEachAttribute = "new_tokens_each";
constexpr const char* kFinishEachAttribute = "finish_each";

/// A line of requests.jsonl.
struct Request {
  std::uint64_t id = 0;
  RequestSource source = RequestSource::Builtin;
  std::optional<std::int64_t> start_ns;
  std::int64_t ns = 0;
  std::optional<std::int64_t> ttft_ns;
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> new_tokens;
  std::optional<std::uint64_t> batch;
  std::vector<Phase> phases;  ///< in the order in which they began, parents before their parts
  std::map<std::string, Node> attributes;

  bool operator==(const Request&) const = default;

  /// Null if it has no such phase.
  const Phase* find_phase(std::string_view path) const;
  /// A string attribute; empty if it has no such attribute.
  std::string text(const std::string& attribute) const;
  /// An integer attribute, if it has one of this name.
  std::optional<std::int64_t> integer(const std::string& attribute) const;
  /// A list of strings; empty if there is no such attribute, or an item is something else.
  std::vector<std::string> texts(const std::string& attribute) const;
  /// A list of integers that are not negative, likewise.
  std::vector<std::uint64_t> counts(const std::string& attribute) const;
  /// Its images: one, those of a batch, or none.
  std::vector<std::string> images() const;
};
constexpr auto fields(std::type_identity<Request>) {
  return field_list(
      field("id", &Request::id, "unique in the file").required(),
      field("source", &Request::source, "who observed it").required(),
      field("start_ns", &Request::start_ns, "by the machine's monotonic clock"),
      field("ns", &Request::ns, "how long it took").required().at_least(0),
      field("ttft_ns", &Request::ttft_ns, "from its start to the first new token"),
      field("prompt_tokens", &Request::prompt_tokens, "image tokens included"),
      field("new_tokens", &Request::new_tokens, "generated, the first one included"),
      field("batch", &Request::batch, "sequences that were computed together"),
      field("phases", &Request::phases, "in the order in which they began").required(),
      field("attributes", &Request::attributes, "whatever else the workload knows: image, url"));
}

/// One line of requests.jsonl, without its line end. Unknown values are left out.
std::string to_json_line(const Request& request);

/// All lines of a requests.jsonl, or of a samples.jsonl as version 0.1 wrote it. An unreadable line
/// is an Error with its number; `source` names the file in it.
Result<std::vector<Request>> parse_requests(std::string_view text, const std::string& source);

/// The last name of a path: `attention` for `prefill/attention`.
std::string_view last_name(std::string_view path);

// Runs of version 0.1 have a samples.jsonl, one measured image per line, instead of a
// requests.jsonl.

/// Whether a line is from a samples.jsonl.
bool is_sample_line(const Node& line);

/// Converts such a line. Its phases follow each other; the start times of their parts were not
/// recorded.
Result<Request> request_of_sample(const Node& line, std::uint64_t id);

}  // namespace profline
