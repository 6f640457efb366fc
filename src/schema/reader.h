#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "schema/problems.h"
#include "schema/type.h"

namespace profline::schema {

/// One walk over a tree: knows where it is and collects what is wrong. Codecs speak to it.
class Reader {
 public:
  /// `path` is where in a larger tree the root lies (`pipeline.nsys`), for messages; may be empty.
  explicit Reader(std::string_view path) : root_path_(path) {}

  /// Reads `node` into the `value` of the given type; a node of a kind that the type does not take
  /// is a problem and leaves the value alone.
  void read(const Type& type, const Limits& limits, const Node& node, void* value);

  /// The same for an item of the list, or an entry of the map, that is being read.
  void read_item(std::size_t index, const Type& type, const Node& node, void* value);
  void read_entry(const NodeMap::Entry& entry, std::size_t index, const Type& type, void* value);
  /// Anything but a string as the key of an entry is a problem.
  bool key_is_string(const NodeMap::Entry& entry, std::size_t index);

  /// `must be <what is being read>, not <node>`, and the hint.
  void mismatch(const Node& node, std::string_view hint = {});
  /// `must be <expected>, not <node>`: for a reason that the type's text does not show.
  void mismatch_of(const Node& node, std::string_view expected);
  /// A problem told in the codec's own words, which begin with a verb: `names no metric`.
  void problem(const Node& node, std::string_view message);

  /// What the field that is being read says of its numbers.
  const Limits& limits() const { return *limits_; }

  /// Hands over what was found, in the order of the tree.
  void finish(Problems& problems) &&;

 private:
  friend class StructReader;

  struct Step {
    std::string_view key;
    std::size_t index;  ///< of the entry or item
    bool is_item;
  };
  using Place = std::vector<std::size_t>;
  struct Finding {
    Error error;
    Place place;
    bool is_warning;
  };

  std::string path() const;
  Place place() const;
  void add_of_key(const NodeMap::Entry& entry, std::size_t index, std::string_view message,
                  bool is_warning = false);
  void add(const Position& position, std::string_view message, Place place,
           bool is_warning = false);

  std::string root_path_;
  std::vector<Step> steps_;
  std::vector<Finding> findings_;
  std::size_t error_count_ = 0;
  const Type* type_ = nullptr;
  const Limits* limits_ = nullptr;
};

/// What Codec of a struct does, with its type taken away.
void read_struct(const StructType& structure, const Node& node, void* object, Reader& reader);
/// Deprecated fields are left out where they have their default: what nobody set must not be warned
/// of when it is read again.
Node write_struct(const StructType& structure, const void* object);
Node write_all_fields(const StructType& structure, const void* object);

/// `an integer >= 1`, `one of a, b`.
std::string with_article(const std::string& type_text);

}  // namespace profline::schema
