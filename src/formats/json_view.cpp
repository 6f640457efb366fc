#include <bit>
#include <string>

#include <simdjson.h>

#include "formats/json_stream.h"

namespace profline {
namespace {

namespace dom = simdjson::dom;

// simdjson's elements and iterators are a pointer to the document and a position on its tape. A
// Handle holds these two, so that no header of ours has to include theirs.
template <typename Theirs>
Theirs theirs(JsonView::Handle handle) {
  return std::bit_cast<Theirs>(handle);
}

template <typename Theirs>
JsonView::Handle ours(const Theirs& place) {
  return std::bit_cast<JsonView::Handle>(place);
}

dom::element element_at(JsonView::Handle handle) {
  return theirs<dom::element>(handle);
}

template <typename T>
std::optional<T> value_of(JsonView::Handle handle) {
  T value{};
  if (element_at(handle).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

}  // namespace

Node::Kind JsonView::kind() const {
  switch (element_at(handle_).type()) {
    case dom::element_type::ARRAY:
      return Node::Kind::List;
    case dom::element_type::OBJECT:
      return Node::Kind::Map;
    case dom::element_type::INT64:
      return Node::Kind::Int;
    case dom::element_type::UINT64:
      return Node::Kind::BigInt;
    case dom::element_type::DOUBLE:
      return Node::Kind::Float;
    case dom::element_type::STRING:
      return Node::Kind::String;
    case dom::element_type::BOOL:
      return Node::Kind::Bool;
    case dom::element_type::NULL_VALUE:
      break;
  }
  return Node::Kind::Null;
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  dom::element found;
  if (element_at(handle_).at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return JsonView(ours(found));
}

std::optional<std::string_view> JsonView::string() const {
  return value_of<std::string_view>(handle_);
}
std::optional<std::int64_t> JsonView::integer() const {
  return value_of<std::int64_t>(handle_);
}
std::optional<std::uint64_t> JsonView::unsigned_integer() const {
  return value_of<std::uint64_t>(handle_);
}
std::optional<double> JsonView::number() const {
  return value_of<double>(handle_);
}
std::optional<bool> JsonView::boolean() const {
  return value_of<bool>(handle_);
}

JsonView::FieldRange JsonView::fields() const {
  dom::object object;
  if (element_at(handle_).get(object) != simdjson::SUCCESS) return {Handle(), Handle()};
  return {ours(object.begin()), ours(object.end())};
}

JsonView::ItemRange JsonView::items() const {
  dom::array array;
  if (element_at(handle_).get(array) != simdjson::SUCCESS) return {Handle(), Handle()};
  return {ours(array.begin()), ours(array.end())};
}

JsonView::Field JsonView::FieldRange::Iterator::operator*() const {
  const auto place = theirs<dom::object::iterator>(handle_);
  return {place.key(), JsonView(ours(place.value()))};
}

JsonView::FieldRange::Iterator& JsonView::FieldRange::Iterator::operator++() {
  handle_ = ours(++theirs<dom::object::iterator>(handle_));
  return *this;
}

JsonView JsonView::ItemRange::Iterator::operator*() const {
  return JsonView(ours(*theirs<dom::array::iterator>(handle_)));
}

JsonView::ItemRange::Iterator& JsonView::ItemRange::Iterator::operator++() {
  handle_ = ours(++theirs<dom::array::iterator>(handle_));
  return *this;
}

Node JsonView::to_node() const {
  switch (kind()) {
    case Node::Kind::Bool:
      return Node::boolean(*boolean());
    case Node::Kind::Int:
      return Node::integer(*integer());
    case Node::Kind::BigInt:
      return Node::big_integer(std::to_string(*unsigned_integer()));
    case Node::Kind::Float:
      return Node::real(*number());
    case Node::Kind::String:
      return Node::string(std::string(*string()));
    case Node::Kind::List: {
      Node::List list;
      for (const JsonView item : items()) list.push_back(item.to_node());
      return Node::list(std::move(list));
    }
    case Node::Kind::Map: {
      NodeMap map;
      for (const auto& [key, value] : fields()) map.set(std::string(key), value.to_node());
      return Node::map(std::move(map));
    }
    case Node::Kind::Null:
    case Node::Kind::Bytes:
      break;
  }
  return {};
}

}  // namespace profline
