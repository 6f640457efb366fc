#include "config/apply_overrides.h"

#include <algorithm>

#include "config/key_path.h"
#include "config/load.h"
#include "config/python_number.h"
#include "config/python_text.h"

namespace profline::config {
namespace {

bool is_number(const Node& node) {
  return node.is_bool() || node.is_int() || node.is_float() || node.kind() == Node::Kind::BigInt;
}

/// As Python's == sees it: 1, 1.0 and True are the same, and so are maps in any order.
bool is_equal(const Node& a, const Node& b) {
  if (is_number(a) && is_number(b)) {
    return a == b || (to_double(a) && to_double(a) == to_double(b));
  }
  if (a.is_list() && b.is_list()) {
    return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                      b.as_list().end(), is_equal);
  }
  if (!a.is_map() || !b.is_map()) return a == b;
  if (a.as_map().size() != b.as_map().size()) return false;
  return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const NodeMap::Entry& entry) {
    const Node* other = b.as_map().find(entry.key);
    return other != nullptr && is_equal(entry.value, *other);
  });
}

/// The column of a step of the override's key.
std::uint32_t step_column(const Override& given, std::size_t step) {
  std::size_t at = 0;
  for (; step > 0 && at != std::string::npos; --step) at = given.key.find('.', at + 1);
  const std::size_t skipped = at == 0 || at == std::string::npos ? 0 : at + 1;
  return given.key_column + static_cast<std::uint32_t>(skipped);
}

/// Where each step of the override's key is written.
std::vector<Mark> step_marks(const Override& given, std::size_t steps) {
  const auto source = std::make_shared<const std::string>(given.place.source);
  std::vector<Mark> marks;
  marks.reserve(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    marks.push_back({source, given.place.line, step_column(given, i)});
  }
  return marks;
}

/// The same failure, told at the override.
Error told_at(const Override& given, const Error& problem, std::uint32_t column) {
  const std::optional<Position>& at = problem.position();
  if (at && at->source == given.place.source && at->column != 0) column = at->column;
  // A reason is a literal, so its view ends with a NUL.
  return given.error(problem.message(), column).with_reason(problem.reason().data());
}

Result<Node> value_of(const Override& given) {
  if (!given.value) return Node();
  Result<Node> value = to_node(*given.value, given.place.source);
  if (!value) return told_at(given, value.error(), given.key_column);
  return value;
}

/// That the value can be part of a config. What is only compared, to delete a key, may be anything.
Result<void> check_value(const Override& given, const Node& value) {
  if (given.type == OverrideType::Delete) return {};
  const Result<void> checked = check_config(value);
  if (checked) return {};
  const Error& problem = checked.error();
  if (problem.reason() != "key_type") return told_at(given, problem, given.key_column);
  // In a file a null key cannot be read; in an override it is a value that does not fit.
  return given.error(problem.message(), given.value->column()).with_reason("validation");
}

Result<void> change(const Override& given, Node value, bool force, ConfigTree& tree) {
  ConfigTree::Change change{split_key(given.key), std::move(value), force};
  if (change.steps.size() > kMaxKeySteps) {
    return given
        .error("the key has " + std::to_string(change.steps.size()) + " steps, and " +
                   std::to_string(kMaxKeySteps) + " are the most",
               given.key_column)
        .with_reason("key_too_deep");
  }
  if (force) change.marks = step_marks(given, change.steps.size());
  const Result<void> done = tree.change(change);
  if (done) return {};
  const Error& problem = done.error();
  const std::uint32_t column = step_column(given, change.failed_step);
  if (problem.reason() != "key_not_in_config" || force) return told_at(given, problem, column);
  return given.error(problem.message() + "; to add it write +" + given.text, column)
      .with_reason("key_not_in_config");
}

Result<void> remove(const Override& given, const Node& value, ConfigTree& tree) {
  const Node* found = PL_TRY(tree.select(given.key));
  if (found == nullptr) {
    return given.error("there is no '" + given.key + "' to delete", given.key_column)
        .with_reason("delete_missing_key");
  }
  if (!value.is_null() && !is_equal(value, *found)) {
    return given
        .error("'" + given.key + "' is not deleted, because its value is " + python_repr(*found) +
                   " and not " + python_repr(value),
               given.key_column)
        .with_reason("delete_value_mismatch");
  }
  return tree.erase(given.key);
}

Result<void> add(const Override& given, Node value, ConfigTree& tree) {
  const Node* found = PL_TRY(tree.select(given.key));
  if (found != nullptr && value.is_scalar()) {
    return given
        .error("'" + given.key + "' is there already; to change it write " + given.text.substr(1) +
                   ", to add or change it +" + given.text,
               given.key_column)
        .with_reason("add_existing");
  }
  return change(given, std::move(value), true, tree);
}

/// Whether a plain `key=value` names a key that is there: that comes before what is wrong with the
/// value. Nothing else is done with the tree after an Error.
Result<void> check_key(const Override& given, const Node& value, ConfigTree& tree) {
  if (given.type != OverrideType::Change || !value.is_map()) return {};
  return change(given, Node::map(), false, tree);
}

Result<void> apply(const Override& given, ConfigTree& tree) {
  if (given.package) {
    return given
        .error("'@" + *given.package + "' names the package of a config group, and there is no " +
                   "group '" + given.key + "'",
               given.key_column)
        .with_reason("not_a_group");
  }
  Node value = PL_TRY(value_of(given));
  if (const Result<void> checked = check_value(given, value); !checked) {
    PL_TRY(check_key(given, value, tree));
    return checked;
  }
  switch (given.type) {
    case OverrideType::Delete:
      return remove(given, value, tree);
    case OverrideType::Add:
      return add(given, std::move(value), tree);
    case OverrideType::ForceAdd:
      return change(given, std::move(value), true, tree);
    case OverrideType::Change:
      break;
  }
  return change(given, std::move(value), false, tree);
}

}  // namespace

Result<void> apply_overrides(std::span<const Override* const> overrides, ConfigTree& tree) {
  for (const Override* given : overrides) {
    const Result<void> done = apply(*given, tree);
    if (done) continue;
    const Error& problem = done.error();
    // What comes from resolving tells of a file; that it happened here is told first.
    if (problem.position() && problem.position()->source == given->place.source) return problem;
    return told_at(*given, problem, given->key_column);
  }
  return {};
}

}  // namespace profline::config
