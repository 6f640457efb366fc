#include "formats/node.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/strings.h"

namespace profline {
namespace {

constexpr std::size_t kSearchedFromTheFront = 8;

std::size_t hash_text(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

std::size_t hash_of(const Node& key) {
  switch (key.kind()) {
    case Node::Kind::String:
      return hash_text(key.as_string());
    case Node::Kind::Int:
      return std::hash<std::int64_t>{}(key.as_int());
    case Node::Kind::Bool:
      return key.as_bool() ? 3 : 5;
    case Node::Kind::Float:
      // One hash for every NaN and for both zeros, to agree with equality.
      return std::isnan(key.as_float()) ? 7 : std::hash<double>{}(key.as_float());
    case Node::Kind::BigInt:
      return hash_text(key.as_big_int());
    case Node::Kind::Bytes:
      return hash_text(key.as_bytes()) + 1;
    case Node::Kind::Null:
    case Node::Kind::List:
    case Node::Kind::Map:
      return 0;
  }
  return 0;
}

template <typename T, typename Value>
auto& get_checked(Value& value) {
  auto* held = std::get_if<T>(&value);
  PL_ASSERT(held != nullptr, "a Node is asked for the kind it has");
  return *held;
}

/// A scalar as text; nothing for one that cannot be a secret.
std::optional<std::string> secret_text(const Node& value) {
  switch (value.kind()) {
    case Node::Kind::Int:
      return std::to_string(value.as_int());
    case Node::Kind::BigInt:
      return value.as_big_int();
    case Node::Kind::Float:
      return std::to_string(value.as_float());
    case Node::Kind::String:
      return value.as_string();
    case Node::Kind::Bytes:
      return value.as_bytes();
    default:
      return std::nullopt;
  }
}

std::string key_text(const Node& key) {
  return key.is_string() ? key.as_string() : "";
}

/// Whether what precedes a value marks it as a secret.
enum class Marked { No, Secret };

Node replaced(const Node& tree, const Redactor& redactor, Marked marked);

Node replaced_list(const Node& tree, const Redactor& redactor, Marked marked) {
  Node list = Node::list();
  std::string before;
  for (const Node& item : tree.as_list()) {
    const bool is_word = item.is_string() && marked == Marked::No;
    if (is_word) {
      list.as_list().push_back(Node::string(redactor.word(before, item.as_string())));
    } else {
      const bool is_secret = marked == Marked::Secret || announces_secret(before);
      list.as_list().push_back(replaced(item, redactor, is_secret ? Marked::Secret : Marked::No));
    }
    before = item.is_string() ? item.as_string() : "";
  }
  return list;
}

Node replaced_map(const Node& tree, const Redactor& redactor, Marked marked) {
  NodeMap map;
  for (const NodeMap::Entry& entry : tree.as_map()) {
    const bool is_secret = marked == Marked::Secret || is_secret_name(key_text(entry.key));
    map.set(entry.key, replaced(entry.value, redactor, is_secret ? Marked::Secret : Marked::No));
  }
  return Node::map(std::move(map));
}

Node replaced(const Node& tree, const Redactor& redactor, Marked marked) {
  if (tree.is_map()) return replaced_map(tree, redactor, marked);
  if (tree.is_list()) return replaced_list(tree, redactor, marked);
  if (marked == Marked::Secret) {
    const auto text = secret_text(tree);
    return text && !gives_nothing_away(*text) ? Node::string(std::string(kRedacted)) : tree;
  }
  return tree.is_string() ? Node::string(redactor.text(tree.as_string())) : tree;
}

void collect(const Node& tree, Redactor& redactor, bool is_secret) {
  if (tree.is_map()) {
    for (const NodeMap::Entry& entry : tree.as_map()) {
      collect(entry.value, redactor, is_secret || is_secret_name(key_text(entry.key)));
    }
    return;
  }
  if (!tree.is_list()) {
    const auto text = is_secret ? secret_text(tree) : std::nullopt;
    if (text) redactor.know(*text);
    return;
  }
  std::string before;
  for (const Node& item : tree.as_list()) {
    const bool is_option = item.is_string() && item.as_string().starts_with("-");
    collect(item, redactor, is_secret || (announces_secret(before) && !is_option));
    before = item.is_string() ? item.as_string() : "";
  }
}

}  // namespace

Node Node::map() {
  return map(NodeMap());
}

Node Node::map(NodeMap entries) {
  return Node(Value(std::make_unique<NodeMap>(std::move(entries))));
}

Node::Node(const Node& other) : mark_(other.mark_) {
  if (other.is_map()) {
    value_ = std::make_unique<NodeMap>(other.as_map());
    return;
  }
  std::visit(
      [&](const auto& held) {
        if constexpr (std::is_copy_constructible_v<std::decay_t<decltype(held)>>) value_ = held;
      },
      other.value_);
}

Node::Node(Node&& other) noexcept : value_(std::move(other.value_)), mark_(std::move(other.mark_)) {
  other.value_.emplace<std::monostate>();  // null, not a map without entries to point at
}

Node& Node::operator=(const Node& other) {
  if (this != &other) *this = Node(other);
  return *this;
}

Node& Node::operator=(Node&& other) noexcept {
  // Via a temporary: `other` may be inside what this Node holds.
  Node taken(std::move(other));
  value_.swap(taken.value_);
  std::swap(mark_, taken.mark_);
  return *this;
}

Node::~Node() = default;

bool Node::as_bool() const {
  return get_checked<bool>(value_);
}
std::int64_t Node::as_int() const {
  return get_checked<std::int64_t>(value_);
}
const std::string& Node::as_big_int() const {
  return get_checked<BigInt>(value_).digits;
}
double Node::as_float() const {
  return get_checked<double>(value_);
}
const std::string& Node::as_string() const {
  return get_checked<std::string>(value_);
}
const std::string& Node::as_bytes() const {
  return get_checked<Bytes>(value_).bytes;
}
const Node::List& Node::as_list() const {
  return get_checked<List>(value_);
}
Node::List& Node::as_list() {
  return get_checked<List>(value_);
}
const NodeMap& Node::as_map() const {
  return *get_checked<std::unique_ptr<NodeMap>>(value_);
}
NodeMap& Node::as_map() {
  return *get_checked<std::unique_ptr<NodeMap>>(value_);
}

const Node* Node::find(std::string_view key) const {
  return is_map() ? as_map().find(key) : nullptr;
}

Node* Node::find(std::string_view key) {
  return is_map() ? as_map().find(key) : nullptr;
}

const Node* Node::find_path(std::string_view dotted) const {
  const Node* node = this;
  for (const std::string_view step : split(dotted, '.')) {
    if (node->is_list()) {
      std::size_t index = 0;
      const auto [end, failure] = std::from_chars(step.data(), step.data() + step.size(), index);
      const bool whole = failure == std::errc() && end == step.data() + step.size();
      if (!whole || index >= node->as_list().size()) return nullptr;
      node = &node->as_list()[index];
    } else {
      node = node->find(step);
      if (node == nullptr) return nullptr;
    }
  }
  return node;
}

bool Node::operator==(const Node& other) const {
  if (kind() != other.kind()) return false;
  if (is_map()) return as_map() == other.as_map();
  if (is_float() && std::isnan(as_float())) return std::isnan(other.as_float());
  return value_ == other.value_;
}

std::string_view describe(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Bool:
      return "a boolean";
    case Node::Kind::Int:
    case Node::Kind::BigInt:
      return "an integer";
    case Node::Kind::Float:
      return "a float";
    case Node::Kind::String:
      return "a string";
    case Node::Kind::Bytes:
      return "bytes";
    case Node::Kind::List:
      return "a list";
    case Node::Kind::Map:
      return "a map";
  }
  return "nothing";
}

template <typename Matches>
std::size_t NodeMap::index_of(std::size_t hash, const Matches& matches) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (matches(entries_[i].key)) return i;
    }
    return kAbsent;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t index = slots_[slot] - 1;
    if (matches(entries_[index].key)) return index;
  }
  return kAbsent;
}

std::size_t NodeMap::index_of(const Node& key) const {
  return index_of(slots_.empty() ? 0 : hash_of(key), [&](const Node& k) { return k == key; });
}

std::size_t NodeMap::index_of(std::string_view key) const {
  return index_of(slots_.empty() ? 0 : hash_text(key),
                  [&](const Node& k) { return k.is_string() && k.as_string() == key; });
}

void NodeMap::add_slot(std::size_t hash, std::size_t index) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<std::uint32_t>(index + 1);
}

void NodeMap::rebuild_slots() {
  slots_.clear();
  if (entries_.size() <= kSearchedFromTheFront) return;
  slots_.resize(std::bit_ceil(entries_.size() * 3));
  for (std::size_t i = 0; i < entries_.size(); ++i) add_slot(hash_of(entries_[i].key), i);
}

const Node* NodeMap::find(std::string_view key) const {
  const std::size_t index = index_of(key);
  return index == kAbsent ? nullptr : &entries_[index].value;
}

Node* NodeMap::find(std::string_view key) {
  const std::size_t index = index_of(key);
  return index == kAbsent ? nullptr : &entries_[index].value;
}

const Node* NodeMap::find(const Node& key) const {
  const std::size_t index = index_of(key);
  return index == kAbsent ? nullptr : &entries_[index].value;
}

Node* NodeMap::find(const Node& key) {
  const std::size_t index = index_of(key);
  return index == kAbsent ? nullptr : &entries_[index].value;
}

Node& NodeMap::set(Node key, Node value) {
  const std::size_t index = index_of(key);
  if (index != kAbsent) return entries_[index].value = std::move(value);
  entries_.push_back({std::move(key), std::move(value)});
  if (entries_.size() * 2 > slots_.size()) {
    rebuild_slots();
  } else {
    add_slot(hash_of(entries_.back().key), entries_.size() - 1);
  }
  return entries_.back().value;
}

bool NodeMap::erase(const Node& key) {
  const std::size_t index = index_of(key);
  if (index == kAbsent) return false;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  rebuild_slots();  // the numbers of later entries changed
  return true;
}

std::vector<std::string> NodeMap::string_keys() const {
  std::vector<std::string> keys;
  for (const Entry& entry : entries_) {
    if (entry.key.is_string()) keys.push_back(entry.key.as_string());
  }
  return keys;
}

Node redacted(const Node& tree, const Redactor& redactor) {
  return replaced(tree, redactor, Marked::No);
}

void know_secrets(const Node& tree, Redactor& redactor) {
  collect(tree, redactor, false);
}

Node redacted_part(const Node& tree, const Node& redacted) {
  if (!tree.is_map() || !redacted.is_map()) return tree == redacted ? Node() : tree;
  NodeMap part;
  for (const NodeMap::Entry& entry : tree.as_map()) {
    const Node* other = redacted.as_map().find(entry.key);
    if (other == nullptr || *other == entry.value) continue;
    part.set(entry.key, redacted_part(entry.value, *other));
  }
  return part.empty() ? Node() : Node::map(std::move(part));
}

void restore(Node& tree, const Node& part) {
  if (part.is_null()) return;
  if (!tree.is_map() || !part.is_map()) {
    tree = part;
    return;
  }
  for (const NodeMap::Entry& entry : part.as_map()) {
    if (Node* value = tree.as_map().find(entry.key)) restore(*value, entry.value);
  }
}

}  // namespace profline
