#include "encode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace profline::conformance {
namespace {

/// Reasons of ours for which the vectors' README has no category: there the real library raised
/// what Python happened to raise, or never came back.
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

}  // namespace

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

}  // namespace profline::conformance
