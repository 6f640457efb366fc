#include "records/request.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "formats/json.h"
#include "schema/read.h"

namespace profline {
namespace {

/// Without null values: unknown fields are left out.
Node without_nulls(Node node) {
  NodeMap kept;
  for (NodeMap::Entry& entry : node.as_map()) {
    if (!entry.value.is_null()) kept.set(entry.key.as_string(), std::move(entry.value));
  }
  return Node::map(std::move(kept));
}

constexpr std::string_view kNanoseconds = "_ns";
/// A phase of every sample; a phase without a time is null in the sample.
constexpr const char* kHostPhase = "preprocess";
constexpr std::string_view kPrefill = "prefill";
constexpr std::string_view kDecode = "decode";
constexpr std::string_view kSteps = "token";

/// A sample except for the times of the parts of prefill, whose names depend on the model.
struct SampleLine {
  std::string image;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  std::string finish;
  std::int64_t preprocess_ns = 0;
  std::int64_t prefill_ns = 0;
  std::optional<std::int64_t> decode_ns;
  std::vector<std::int64_t> token_ns;
  std::string dtype;
  std::uint32_t threads = 0;
  std::string engine;
};
constexpr auto fields(std::type_identity<SampleLine>) {
  return field_list(
      field("image", &SampleLine::image, "name of the image").required(),
      field("epoch", &SampleLine::epoch, "from 0").required(),
      field("index", &SampleLine::index, "in its epoch, from 0").required(),
      field("prompt_tokens", &SampleLine::prompt_tokens, "image tokens included").required(),
      field("new_tokens", &SampleLine::new_tokens, "the first one included").required(),
      field("finish", &SampleLine::finish, "why generation ended").required(),
      field("preprocess_ns", &SampleLine::preprocess_ns, "from the file to tensors").required(),
      field("prefill_ns", &SampleLine::prefill_ns, "with its parts").required(),
      field("decode_ns", &SampleLine::decode_ns, "all steps after prefill"),
      field("token_ns", &SampleLine::token_ns, "each step").required(),
      field("dtype", &SampleLine::dtype, "of tensors").required(),
      field("threads", &SampleLine::threads, "CPU threads of libtorch").required(),
      field("engine", &SampleLine::engine, "how the model was run").required());
}

/// Removes the times of parts (other integers named `*_ns`) from a line and returns them.
std::vector<Phase> take_parts(Node& line) {
  std::vector<Phase> parts;
  NodeMap rest;
  for (const NodeMap::Entry& entry : line.as_map()) {
    const std::string& key = entry.key.as_string();
    const std::string name =
        key.ends_with(kNanoseconds) ? key.substr(0, key.size() - kNanoseconds.size()) : "";
    const bool is_part = !name.empty() && name != kHostPhase && name != kPrefill &&
                         name != kDecode && name != kSteps &&
                         (entry.value.is_int() || entry.value.is_null());
    if (!is_part) {
      rest.set(key, entry.value);
    } else if (entry.value.is_int()) {
      parts.push_back({std::string(kPrefill) + "/" + name, {}, entry.value.as_int(), {}});
    }
  }
  line = Node::map(std::move(rest));
  return parts;
}

std::map<std::string, Node> attributes_of(const SampleLine& sample) {
  std::map<std::string, Node> attributes = {
      {"image", Node::string(sample.image)},      {"epoch", Node::integer(sample.epoch)},
      {"index", Node::integer(sample.index)},     {"dtype", Node::string(sample.dtype)},
      {"threads", Node::integer(sample.threads)}, {"engine", Node::string(sample.engine)}};
  if (sample.finish != "none") attributes.emplace("finish", Node::string(sample.finish));
  return attributes;
}

}  // namespace

const Phase* Request::find_phase(std::string_view path) const {
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const Phase& phase) { return phase.path == path; });
  return found == phases.end() ? nullptr : &*found;
}

std::string Request::text(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end() || !found->second.is_string()) return "";
  return found->second.as_string();
}

std::optional<std::int64_t> Request::integer(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end() || !found->second.is_int()) return std::nullopt;
  return found->second.as_int();
}

std::vector<std::string> Request::texts(const std::string& attribute) const {
  std::vector<std::string> texts;
  const auto found = attributes.find(attribute);
  if (found == attributes.end() || !found->second.is_list()) return texts;
  for (const Node& one : found->second.as_list()) {
    if (!one.is_string()) return {};
    texts.push_back(one.as_string());
  }
  return texts;
}

std::vector<std::uint64_t> Request::counts(const std::string& attribute) const {
  std::vector<std::uint64_t> counts;
  const auto found = attributes.find(attribute);
  if (found == attributes.end() || !found->second.is_list()) return counts;
  for (const Node& one : found->second.as_list()) {
    if (!one.is_int() || one.as_int() < 0) return {};
    counts.push_back(static_cast<std::uint64_t>(one.as_int()));
  }
  return counts;
}

std::vector<std::string> Request::images() const {
  if (attributes.contains(kImageAttribute)) return {text(kImageAttribute)};
  return texts(kImagesAttribute);
}

std::string to_json_line(const Request& request) {
  Node line = without_nulls(schema::write(request));
  for (Node& phase : line.find("phases")->as_list()) phase = without_nulls(std::move(phase));
  return write_json(line, {.indent = 0}).value();
}

Result<std::vector<Request>> parse_requests(std::string_view text, const std::string& source) {
  std::vector<Request> requests;
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const auto in_line = [&](Error error) {
      return std::move(error).during(source + ":" + std::to_string(number));
    };
    auto row = parse_json(line, "");
    if (!row) return in_line(std::move(row).error());
    auto request = is_sample_line(*row) ? request_of_sample(*row, requests.size())
                                        : schema::read<Request>(*row);
    if (!request) return in_line(std::move(request).error());
    requests.push_back(std::move(*request));
  }
  return requests;
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_sample_line(const Node& line) {
  return line.find("prefill_ns") != nullptr && line.find("phases") == nullptr;
}

Result<Request> request_of_sample(const Node& line, std::uint64_t id) {
  Node rest = line;
  std::vector<Phase> parts = take_parts(rest);
  SampleLine sample = PL_TRY(schema::read<SampleLine>(rest));
  Request request;
  request.id = id;
  request.attributes = attributes_of(sample);
  request.prompt_tokens = sample.prompt_tokens;
  request.new_tokens = sample.new_tokens;
  request.ns = sample.preprocess_ns + sample.prefill_ns;
  if (sample.new_tokens > 0) request.ttft_ns = request.ns;
  request.phases.push_back({kHostPhase, 0, sample.preprocess_ns, {}, true});
  request.phases.push_back({std::string(kPrefill), sample.preprocess_ns, sample.prefill_ns, {}});
  for (Phase& part : parts) request.phases.push_back(std::move(part));
  if (sample.decode_ns) {
    request.phases.push_back(
        {std::string(kDecode), request.ns, *sample.decode_ns, std::move(sample.token_ns)});
    request.ns += *sample.decode_ns;
  }
  return request;
}

}  // namespace profline
