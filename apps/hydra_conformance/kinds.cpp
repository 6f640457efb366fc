#include "kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>

#include "base/files.h"
#include "base/strings.h"
#include "config/interpolation/load.h"
#include "formats/json.h"

namespace profline::conformance {
namespace {

Result<std::string> string_field(const Node& line, std::string_view name) {
  const Node* field = line.find(name);
  if (field != nullptr && field->is_string()) return field->as_string();
  return Error(ErrorKind::Parse, "no text '" + std::string(name) + "'", line.position());
}

Result<Node> map_field(const Node& line, std::string_view name) {
  const Node* field = line.find(name);
  if (field != nullptr && field->is_map()) return *field;
  return Error(ErrorKind::Parse, "no object '" + std::string(name) + "'", line.position());
}

Result<Vector> to_vector(const Node& line) {
  Vector out;
  out.id = PL_TRY(string_field(line, "id"));
  out.kind = PL_TRY(string_field(line, "kind"));
  out.input = PL_TRY(map_field(line, "input"));
  out.expected = PL_TRY(map_field(line, "expected"));
  if (const Node* needs = line.find("needs")) out.needs = *needs;
  const Node* quirk = line.find("quirk");
  out.quirk = quirk != nullptr && quirk->is_bool() && quirk->as_bool();
  return out;
}

Result<void> load_file(const std::filesystem::path& path, std::vector<Vector>& out) {
  const std::string text = PL_TRY(read_file(path));
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    const std::string source = path.filename().string() + ":" + std::to_string(++number);
    if (trim(line).empty()) continue;
    const Node tree = PL_TRY(parse_json(line, source));
    out.push_back(PL_TRY(to_vector(tree)));
  }
  return {};
}

/// Our reasons for which the vectors' README has no category: there the real library raised an
/// arbitrary Python exception, or never returned.
constexpr std::array<std::string_view, 2> kUncategorised = {"invalid_range", "sweep_too_large"};

Node encode_float(double value) {
  if (std::isfinite(value)) return Node::real(value);
  const char* name = std::isnan(value) ? "nan" : (value < 0 ? "-inf" : "inf");
  return object({{"$float", Node::string(name)}});
}

Node encode_bytes(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 0xFU];
  }
  return object({{"$bytes", Node::string(hex)}});
}

bool has_plain_keys(const NodeMap& map) {
  return std::all_of(map.begin(), map.end(), [](const NodeMap::Entry& entry) {
    return entry.key.is_string() && !entry.key.as_string().starts_with('$');
  });
}

Node encode_map(const NodeMap& map) {
  if (has_plain_keys(map)) {
    Node out = Node::map();
    for (const NodeMap::Entry& entry : map) out.as_map().set(entry.key, encode(entry.value));
    return out;
  }
  Node pairs = Node::list();
  for (const NodeMap::Entry& entry : map) {
    pairs.as_list().push_back(Node::list({encode(entry.key), encode(entry.value)}));
  }
  return object({{"$dict", std::move(pairs)}});
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// `resolved_error`, `error`, … hold an error if the vector has one; only its category is compared.
/// Some vectors have the name of an exception instead, of which only the presence counts.
bool is_error_field(std::string_view name) {
  return name == "error" || name.ends_with("_error");
}

bool same_error(const Node& expected, const Node& got) {
  const Node* category = expected.find("category");
  if (category == nullptr) return true;
  const Node* ours = got.find("category");
  return ours != nullptr && *ours == *category;
}

bool same_entries(const Node& a, const Node& b) {
  if (!a.is_map() || !b.is_map() || a.as_map().size() != b.as_map().size()) return a == b;
  return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const NodeMap::Entry& entry) {
    const Node* other = b.as_map().find(entry.key);
    return other != nullptr && *other == entry.value;
  });
}

bool same_answers(const Node& expected, const Node& got) {
  if (!got.is_map() || got.as_map().size() != expected.as_map().size()) return false;
  return std::all_of(expected.as_map().begin(), expected.as_map().end(),
                     [&](const NodeMap::Entry& entry) {
                       const Node* ours = got.as_map().find(entry.key);
                       if (ours == nullptr) return false;
                       const Node* error = entry.value.find("error");
                       if (error == nullptr) return *ours == entry.value;
                       const Node* our_error = ours->find("error");
                       return our_error != nullptr && same_error(*error, *our_error);
                     });
}

bool same_field(const Kind& kind, const std::string& name, const Node& expected, const Node& got) {
  if (is_error_field(name)) return same_error(expected, got);
  if (contains(kind.answer_maps, name)) return same_answers(expected, got);
  if (contains(kind.unordered_maps, name)) return same_entries(expected, got);
  return expected == got;
}

}  // namespace

Result<std::vector<Vector>> load_vectors(const std::filesystem::path& folder) {
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (problem) {
    return Error(ErrorKind::NotFound,
                 "cannot list the vectors in " + folder.string() + ": " + problem.message());
  }
  if (files.empty()) return Error(ErrorKind::NotFound, "no *.jsonl in " + folder.string());
  std::sort(files.begin(), files.end());
  std::vector<Vector> out;
  for (const std::filesystem::path& file : files) PL_TRY(load_file(file, out));
  return out;
}

Node object(std::initializer_list<std::pair<std::string_view, Node>> fields) {
  Node out = Node::map();
  for (const auto& [name, value] : fields) out.as_map().set(std::string(name), value);
  return out;
}

Node encode(const Node& value) {
  switch (value.kind()) {
    case Node::Kind::Float:
      return encode_float(value.as_float());
    case Node::Kind::BigInt:
      return object({{"$int", Node::string(value.as_big_int())}});
    case Node::Kind::Bytes:
      return encode_bytes(value.as_bytes());
    case Node::Kind::Map:
      return encode_map(value.as_map());
    case Node::Kind::List:
      break;
    default:
      return value;
  }
  Node out = Node::list();
  for (const Node& item : value.as_list()) out.as_list().push_back(encode(item));
  return out;
}

Node describe_error(const Error& error) {
  std::string category(error.reason());
  const bool named =
      std::find(kUncategorised.begin(), kUncategorised.end(), category) == kUncategorised.end();
  if (category.empty() || !named) category = "other";
  return object(
      {{"category", Node::string(category)}, {"message", Node::string(error.to_string())}});
}

Node failure(const Error& error) {
  return object({{"ok", Node::boolean(false)}, {"error", describe_error(error)}});
}

std::vector<Kind> kinds() {
  return {
      {"override_parse", answer_override_parse},
      {.name = "resolve", .answer = answer_resolve, .ignored = {"warnings"}},
      {"sweep", answer_sweep},
      {"compose",
       answer_compose,
       {"yaml", "warn_missing_self", "warnings"},
       {"choices"},
       {"hydra"}},
      {"yaml", answer_yaml},
  };
}

std::vector<std::string> differences(const Kind& kind, const Node& expected, const Node& got) {
  std::vector<std::string> out;
  for (const std::string& name : expected.as_map().string_keys()) {
    if (contains(kind.ignored, name)) continue;
    const Node* ours = got.find(name);
    if (ours == nullptr || !same_field(kind, name, *expected.find(name), *ours)) {
      out.push_back(is_error_field(name) && ours != nullptr ? name + ".category" : name);
    }
  }
  for (const std::string& name : got.as_map().string_keys()) {
    if (!contains(kind.ignored, name) && expected.find(name) == nullptr) out.push_back(name);
  }
  return out;
}

Node answer_yaml(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const Node* yaml = vector.input.find("yaml");
  if (yaml == nullptr || !yaml->is_string()) {
    return failure(Error(ErrorKind::Parse, "the vector has no YAML text"));
  }
  const Result<Node> tree = config::load_config(yaml->as_string(), "config.yaml");
  if (!tree) return failure(tree.error());
  return object({{"ok", Node::boolean(true)}, {"value", encode(*tree)}});
}

}  // namespace profline::conformance
