#include "schema/diff.h"

#include <algorithm>

#include "schema/docs.h"

namespace profline::schema {
namespace {

std::string joined(const std::string& path, const std::string& step) {
  return path.empty() ? step : path + '.' + step;
}

std::string key_text(const Node& key) {
  return key.is_string() ? key.as_string() : value_text(key);
}

/// Collects changes; either side of a comparison may be absent (null), never both.
class Comparison {
 public:
  void compare(const std::string& path, const Node* before, const Node* after) {
    if (both_are_or_absent(before, after, Node::Kind::Map)) {
      compare_maps(path, before, after);
    } else if (both_are_or_absent(before, after, Node::Kind::List)) {
      compare_lists(path, before, after);
    } else {
      compare_values(path, before, after);
    }
  }

  std::vector<Change> take() && { return std::move(changes_); }

 private:
  /// A map or list that was added or removed is listed value by value, unless it is empty.
  static bool both_are_or_absent(const Node* before, const Node* after, Node::Kind kind) {
    const auto is_filled = [&](const Node* node) {
      return node->kind() == kind &&
             (kind == Node::Kind::Map ? !node->as_map().empty() : !node->as_list().empty());
    };
    if (before == nullptr) return is_filled(after);
    if (after == nullptr) return is_filled(before);
    return before->kind() == kind && after->kind() == kind;
  }

  void compare_maps(const std::string& path, const Node* before, const Node* after) {
    if (before != nullptr) {
      for (const auto& [key, value] : before->as_map()) {
        const Node* other = after == nullptr ? nullptr : after->as_map().find(key);
        compare(joined(path, key_text(key)), &value, other);
      }
    }
    if (after == nullptr) return;
    for (const auto& [key, value] : after->as_map()) {
      const bool is_new = before == nullptr || before->as_map().find(key) == nullptr;
      if (is_new) compare(joined(path, key_text(key)), nullptr, &value);
    }
  }

  void compare_lists(const std::string& path, const Node* before, const Node* after) {
    const auto item = [](const Node* list, std::size_t index) -> const Node* {
      if (list == nullptr || index >= list->as_list().size()) return nullptr;
      return &list->as_list()[index];
    };
    for (std::size_t i = 0; item(before, i) != nullptr || item(after, i) != nullptr; ++i) {
      compare(joined(path, std::to_string(i)), item(before, i), item(after, i));
    }
  }

  void compare_values(const std::string& path, const Node* before, const Node* after) {
    if (before != nullptr && after != nullptr && *before == *after) return;
    Change change{path, std::nullopt, std::nullopt};
    if (before != nullptr) change.before = value_text(*before);
    if (after != nullptr) change.after = value_text(*after);
    changes_.push_back(std::move(change));
  }

  std::vector<Change> changes_;
};

}  // namespace

std::string Change::to_string() const {
  // The root has no path.
  const std::string name = path.empty() ? "" : path + ": ";
  if (!before) return "+ " + name + after.value_or("");
  if (!after) return "- " + name + *before;
  return name + *before + " -> " + *after;
}

std::vector<Change> diff(const Node& before, const Node& after) {
  Comparison comparison;
  comparison.compare("", &before, &after);
  return std::move(comparison).take();
}

}  // namespace profline::schema
