#include "schema/codec.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "schema/container_codecs.h"
#include "schema/docs.h"
#include "schema/read.h"
#include "schema/scalar_codecs.h"

namespace profline::schema {

std::string with_article(const std::string& type_text) {
  if (type_text.starts_with("one of ") || type_text.starts_with("any")) return type_text;
  const bool vowel = std::string_view("aeiou").find(type_text.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + type_text;
}

void Reader::read(const Type& type, const Limits& limits, const Node& node, void* value) {
  const Type* outer_type = std::exchange(type_, &type);
  const Limits* outer_limits = std::exchange(limits_, &limits);
  if (type.kinds.has(node.kind())) {
    type.read(node, value, *this);
  } else {
    problem(node, "must be " + with_article(type.text(limits)) + ", not " + shown_with_kind(node));
  }
  type_ = outer_type;
  limits_ = outer_limits;
}

void Reader::read_item(std::size_t index, const Type& type, const Node& node, void* value) {
  steps_.push_back({{}, index, true});
  read(type, *limits_, node, value);
  steps_.pop_back();
}

void Reader::read_entry(const NodeMap::Entry& entry, std::size_t index, const Type& type,
                        void* value) {
  steps_.push_back({entry.key.as_string(), index, false});
  read(type, *limits_, entry.value, value);
  steps_.pop_back();
}

bool Reader::key_is_string(const NodeMap::Entry& entry, std::size_t index) {
  if (entry.key.is_string()) return true;
  add_of_key(entry, index, "a key must be a string, not " + shown_with_kind(entry.key));
  return false;
}

void Reader::mismatch(const Node& node, std::string_view hint) {
  problem(node, "must be " + with_article(type_->text(*limits_)) + ", not " + shown(node) +
                    std::string(hint));
}

void Reader::mismatch_of(const Node& node, std::string_view expected) {
  problem(node, "must be " + with_article(std::string(expected)) + ", not " + shown(node));
}

void Reader::problem(const Node& node, std::string_view message) {
  add(node.position(), message, place());
}

std::string Reader::path() const {
  std::string path = root_path_;
  for (const Step& step : steps_) {
    if (!path.empty()) path += '.';
    path += step.is_item ? std::to_string(step.index) : std::string(step.key);
  }
  return path;
}

Reader::Place Reader::place() const {
  Place place;
  place.reserve(steps_.size());
  for (const Step& step : steps_) place.push_back(step.index);
  return place;
}

void Reader::add_of_key(const NodeMap::Entry& entry, std::size_t index, std::string_view message,
                        bool is_warning) {
  Place at = place();
  at.push_back(index);
  // Keys that code set have no place of their own; the value may have one.
  const Position position = entry.key.position();
  add(position == Position{} ? entry.value.position() : position, message, std::move(at),
      is_warning);
}

void Reader::add(const Position& position, std::string_view message, Place place, bool is_warning) {
  std::string text = path();
  if (!text.empty()) text += ": ";
  text += message;
  Error error = position == Position{} ? Error(ErrorKind::Config, std::move(text))
                                       : Error(ErrorKind::Config, std::move(text), position);
  if (!is_warning) ++error_count_;
  findings_.push_back({std::move(error), std::move(place), is_warning});
}

void Reader::finish(Problems& problems) && {
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const Finding& a, const Finding& b) { return a.place < b.place; });
  for (Finding& finding : findings_) {
    if (finding.is_warning) {
      problems.warn(std::move(finding.error));
    } else {
      problems.add(std::move(finding.error));
    }
  }
}

/// Reads one struct from one map.
class StructReader {
 public:
  StructReader(const StructType& structure, const Node& node, void* object, Reader& reader)
      : structure_(structure), node_(node), object_(object), reader_(reader) {}

  void run() {
    const std::size_t errors_before = reader_.error_count_;
    report_missing(structure_, &node_.as_map());
    read_entries();
    // Rules over several fields would only repeat the known problem with one of them.
    if (structure_.validate != nullptr && reader_.error_count_ == errors_before)
      report_failed_checks();
  }

 private:
  /// An absent section (`map` is null) may have required keys as well.
  void report_missing(const StructType& structure, const NodeMap* map) {
    for (const FieldEntry& field : structure.fields) {
      if (field.is_removed()) continue;
      if (map != nullptr && map->find(field.text.name) != nullptr) continue;
      const Type& type = field.type();
      if (field.text.required) {
        reader_.add(node_.position(),
                    "missing key '" + std::string(field.text.name) + "' (" +
                        with_article(type.text(field.text.limits)) + ")",
                    own_place());
      } else if (type.structure != nullptr) {
        reader_.steps_.push_back({field.text.name, 0, false});
        ++absent_;
        report_missing(type.structure(), nullptr);
        --absent_;
        reader_.steps_.pop_back();
      }
    }
  }

  void read_entries() {
    std::size_t index = 0;
    for (const NodeMap::Entry& entry : node_.as_map()) {
      if (reader_.key_is_string(entry, index)) read_entry(entry, index);
      ++index;
    }
  }

  void read_entry(const NodeMap::Entry& entry, std::size_t index) {
    const std::string& name = entry.key.as_string();
    const FieldEntry* field = find(name);
    if (field == nullptr) {
      reader_.add_of_key(entry, index, "unknown key " + shown(entry.key) + hint(name));
      return;
    }
    if (field->is_removed()) {
      reader_.add_of_key(
          entry, index,
          "key " + shown(entry.key) + " was removed: " + std::string(field->text.help));
      return;
    }
    if (!field->text.deprecated.empty()) {
      reader_.add_of_key(
          entry, index,
          "key " + shown(entry.key) + " is deprecated: " + std::string(field->text.deprecated),
          true);
    }
    reader_.steps_.push_back({field->text.name, index, false});
    reader_.read(field->type(), field->text.limits, entry.value, field->member(object_));
    reader_.steps_.pop_back();
  }

  /// Files mostly follow the order of the field list: the search resumes after the last one found.
  const FieldEntry* find(std::string_view name) {
    const std::size_t count = structure_.fields.size();
    for (std::size_t tried = 0; tried < count; ++tried) {
      const std::size_t at = (next_field_ + tried) % count;
      if (structure_.fields[at].text.name != name) continue;
      next_field_ = at + 1;
      return &structure_.fields[at];
    }
    return nullptr;
  }

  /// The nearest key or, if none is near and there are only a few, all of them.
  std::string hint(std::string_view name) const {
    constexpr std::size_t kListed = 10;
    std::vector<std::string> keys;
    for (const FieldEntry& field : structure_.fields) {
      if (!field.is_removed() && field.text.deprecated.empty()) keys.emplace_back(field.text.name);
    }
    std::string near = did_you_mean(name, keys);
    if (!near.empty() || keys.empty() || keys.size() > kListed) return near;
    return " (known keys: " + join(keys, ", ") + ")";
  }

  void report_failed_checks() {
    const Checks checks = structure_.validate(object_);
    for (const Checks::Failure& failure : checks.failures()) {
      std::vector<const FieldEntry*> chain;
      if (failure.member != nullptr) locate(structure_, object_, failure, chain);
      report_failed_check(failure, chain);
    }
  }

  /// Finds the fields that lead from `object` to the offending member. A struct and its first
  /// member have the same address, so the type is compared as well.
  static bool locate(const StructType& structure, const void* object,
                     const Checks::Failure& failure, std::vector<const FieldEntry*>& chain) {
    for (const FieldEntry& field : structure.fields) {
      if (field.is_removed()) continue;
      const Type& type = field.type();
      const void* member = field.in(object);
      chain.push_back(&field);
      if (member == failure.member && type.tag == failure.type) return true;
      if (type.structure != nullptr && locate(type.structure(), member, failure, chain)) {
        return true;
      }
      if (contains(member, type.size, failure.member)) return true;
      chain.pop_back();
    }
    return false;
  }

  static bool contains(const void* object, std::size_t size, const void* part) {
    const std::less<const void*> before;  // a total order, also over unrelated objects
    const void* end = static_cast<const std::byte*>(object) + size;
    return !before(part, object) && before(part, end);
  }

  /// At the place of the field or, if it has its default, of the map that contains it.
  void report_failed_check(const Checks::Failure& failure,
                           const std::vector<const FieldEntry*>& chain) {
    Reader::Place place = own_place();
    const Node* deepest = &node_;
    for (const FieldEntry* field : chain) {
      reader_.steps_.push_back({field->text.name, 0, false});
      const Node* value = deepest->find(field->text.name);
      if (value == nullptr) continue;
      const NodeMap& entries = deepest->as_map();
      const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& candidate) {
        return &candidate.value == value;
      });
      place.push_back(static_cast<std::size_t>(entry - entries.begin()));
      deepest = value;
    }
    reader_.add(deepest->position(), failure.message, std::move(place));
    reader_.steps_.resize(reader_.steps_.size() - chain.size());
  }

  /// The place of the map that is being read, whatever absent sections the path goes through.
  Reader::Place own_place() const {
    Reader::Place place = reader_.place();
    place.resize(place.size() - absent_);
    return place;
  }

  const StructType& structure_;
  const Node& node_;
  void* object_;
  Reader& reader_;
  std::size_t next_field_ = 0;
  std::size_t absent_ = 0;
};

void read_struct(const StructType& structure, const Node& node, void* object, Reader& reader) {
  StructReader(structure, node, object, reader).run();
}

namespace internal {
void read_root(const Type& type, const Node& node, void* value, Problems& problems,
               std::string_view path) {
  const Limits no_limits;
  Reader reader(path);
  reader.read(type, no_limits, node, value);
  std::move(reader).finish(problems);
}
}  // namespace internal

Node write_all_fields(const StructType& structure, const void* object) {
  NodeMap map;
  for (const FieldEntry& field : structure.fields) {
    if (field.is_removed()) continue;
    map.set(std::string(field.text.name), field.type().write(field.in(object)));
  }
  return Node::map(std::move(map));
}

Node write_struct(const StructType& structure, const void* object) {
  Node written = write_all_fields(structure, object);
  std::optional<Node> defaults;
  for (const FieldEntry& field : structure.fields) {
    if (field.is_removed() || field.text.deprecated.empty()) continue;
    if (!defaults) defaults = structure.defaults();
    const std::string_view name = field.text.name;
    if (*written.find(name) == *defaults->find(name)) written.as_map().erase(name);
  }
  return written;
}

}  // namespace profline::schema

namespace profline::schema::internal {
namespace {

std::string enclosed(const std::string& text) {
  const bool several =
      text.find(" or ") != std::string::npos || text.find(", ") != std::string::npos;
  return several ? '(' + text + ')' : text;
}

}  // namespace

std::string list_text(const std::string& item) {
  return "list of " + enclosed(item);
}

std::string map_text(const std::string& value) {
  return "map from name to " + enclosed(value);
}

std::string text_list_text(char separator) {
  if (separator == '\0') return "string or list of string";
  return std::string("list of string or '") + separator + "'-separated string";
}

std::vector<std::string> read_text_list(const Node& node, char separator, Reader& reader) {
  std::vector<std::string> items;
  if (node.is_list()) {
    Codec<std::vector<std::string>>::read(node, items, reader);
    return items;
  }
  const std::string& text = node.as_string();
  if (trim(text).empty()) return items;
  if (separator == '\0') return {text};
  for (const std::string_view part : split(text, separator)) {
    if (trim(part).empty()) {
      reader.problem(node, "has an empty item: " + shown(node));
      return items;
    }
    items.emplace_back(trim(part));
  }
  return items;
}

Node write_text_list(const std::vector<std::string>& items) {
  return Codec<std::vector<std::string>>::write(items);
}

}  // namespace profline::schema::internal
