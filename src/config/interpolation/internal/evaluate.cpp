// The part of Resolution that evaluates expressions.

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/strings.h"
#include "config/interpolation/resolve.h"
#include "config/interpolation/value.h"

namespace profline::config {
namespace {

constexpr std::string_view kUnit = "\x1f";  // between the parts of a cache key

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// `1 argument`, `at least 1 argument`, `1 to 3 arguments`
std::string wanted_arguments(const ResolverOptions& options) {
  const std::string least = std::to_string(options.least_arguments);
  if (options.most_arguments == ResolverOptions::kAnyNumber) return "at least " + least;
  const std::string most = std::to_string(options.most_arguments);
  return least == most ? most : least + " to " + most;
}

/// The same text for keys that are equal in a Python dict, such as 1, 1.0 and true.
std::string key_identity(const Node& key) {
  constexpr double kExact = 9007199254740992;  // 2^53, up to which floats are exact integers
  if (key.is_bool()) return key.as_bool() ? "1" : "0";
  if (key.is_float() && std::fabs(key.as_float()) <= kExact) {
    const auto whole = static_cast<std::int64_t>(key.as_float());
    if (static_cast<double>(whole) == key.as_float()) return std::to_string(whole);
  }
  return python_repr(key);  // strings in quotes
}

}  // namespace

Result<Value> Resolution::dereference(const Place& place) {
  if (!place.node->is_string() || !holds_interpolation(place.node->as_string())) {
    return Value(place);
  }
  return evaluate_text(place);
}

Result<Value> Resolution::evaluate_text(const Place& holder) {
  Slot& own = slot(holder);
  if (own.result) return *own.result;
  if (own.evaluating || depth_ >= kMaxDepth) return circle_error(holder);
  const std::string& text = holder.node->as_string();
  // A text at the root has no parent; its references then start at itself and find nothing.
  const Frame frame{holder, holder.parent != nullptr ? *holder.parent : holder, text};
  PL_TRY(charge(holder, 1 + text.size()));
  Result<Expression> parsed = parse_text(text);
  if (!parsed) return located(frame, parsed.error());

  const std::uint64_t impure_before = impure_calls_;
  own.evaluating = true;
  evaluating_.push_back(&holder);
  depth_ += kEvaluateDepth;
  Result<Value> value = evaluate(frame, *parsed);
  depth_ -= kEvaluateDepth;
  evaluating_.pop_back();
  own.evaluating = false;

  // Remembered, so that long chains of references take linear time. Not remembered: values from
  // resolvers that may answer differently next time, and text that reads as an interpolation once
  // it is written into the tree.
  if (value && impure_calls_ == impure_before) {
    const std::string* made = value->text();
    if (made == nullptr || !holds_interpolation(*made)) own.result = *value;
  }
  return value;
}

Result<Value> Resolution::evaluate(const Frame& frame, const Expression& expression) {
  if (const auto* literal = std::get_if<Literal>(&expression.form)) return Value(literal->value);
  if (const auto* text = std::get_if<Text>(&expression.form)) {
    return evaluate_form(frame, *text);
  }
  if (const auto* reference = std::get_if<Reference>(&expression.form)) {
    return evaluate_form(frame, expression, *reference);
  }
  if (const auto* call = std::get_if<Call>(&expression.form)) {
    return evaluate_form(frame, expression, *call);
  }
  if (const auto* list = std::get_if<ListItems>(&expression.form)) {
    return evaluate_form(frame, *list);
  }
  return evaluate_form(frame, std::get<MapItems>(expression.form));
}

Result<Value> Resolution::evaluate_form(const Frame& frame, const Text& text) {
  std::string made;
  for (const Expression& part : text.parts) {
    const std::string piece = PL_TRY(evaluate(frame, part)).str();
    PL_TRY(charge(frame.holder, 1 + piece.size()));
    made += piece;
  }
  return Value(Node::string(std::move(made)));
}

Result<Value> Resolution::evaluate_form(const Frame& frame, const Expression& at,
                                        const Reference& reference) {
  const std::string key = PL_TRY(joined(frame, reference.key, "", "a key"));
  Selection selection = PL_TRY(find(frame.parent, key, true));
  if (selection.outcome != Selection::Outcome::Found) {
    return selection_error(frame, at, key, selection);
  }
  for (const Place* around = &frame.parent; around != nullptr; around = around->parent) {
    if (selection.value.place() == around) {
      return error_at(frame, at.offset, ErrorKind::Config,
                      "interpolation key " + in_quotes(key) + " contains this value", "circular");
    }
  }
  return std::move(selection.value);
}

Result<Value> Resolution::evaluate_form(const Frame& frame, const ListItems& list) {
  Value::Items items;
  items.reserve(list.items.size());
  for (const Expression& item : list.items) items.push_back(PL_TRY(evaluate(frame, item)));
  return Value(std::move(items));
}

Result<Value> Resolution::evaluate_form(const Frame& frame, const MapItems& map) {
  Value::Entries entries;
  std::unordered_map<std::string, std::size_t> known;
  for (const auto& [key, expression] : map.entries) {
    Value value = PL_TRY(evaluate(frame, expression));
    const auto [same, is_new] = known.try_emplace(key_identity(key), entries.size());
    if (is_new) {
      entries.emplace_back(key, std::move(value));
    } else {
      entries[same->second].second = std::move(value);
    }
  }
  return Value(std::move(entries));
}

Result<std::string> Resolution::joined(const Frame& frame, const std::vector<Expression>& parts,
                                       std::string_view separator, std::string_view role) {
  std::string made;
  for (const Expression& part : parts) {
    if (&part != &parts.front()) made += separator;
    const Value value = PL_TRY(evaluate(frame, part));
    if (value.text() == nullptr) {
      return error_at(frame, part.offset, ErrorKind::Config,
                      std::string(role) + " must be a string, and " +
                          in_quotes(frame.text.substr(part.offset, part.length)) + " is " +
                          std::string(value.described()),
                      "resolver_error");
    }
    made += *value.text();
  }
  return made;
}

Result<Value> Resolution::evaluate_form(const Frame& frame, const Expression& at,
                                        const Call& call) {
  const std::string name = PL_TRY(joined(frame, call.name, ".", "the name of a resolver"));
  std::vector<Value> arguments;
  arguments.reserve(call.arguments.size());
  std::string spelling = name;
  for (const Expression& argument : call.arguments) {
    arguments.push_back(PL_TRY(evaluate(frame, argument)));
    spelling += kUnit;
    spelling += frame.text.substr(argument.offset, argument.length);
  }
  const ResolverRegistry::Entry* resolver =
      context_.resolvers == nullptr ? nullptr : context_.resolvers->find(name);
  if (resolver == nullptr) {
    const std::vector<std::string> names =
        context_.resolvers == nullptr ? std::vector<std::string>() : context_.resolvers->names();
    return error_at(frame, at.offset, ErrorKind::Config,
                    "unknown resolver " + in_quotes(name) + did_you_mean(name, names),
                    "unsupported_interpolation");
  }
  const ResolverOptions& options = resolver->options;
  if (options.cached) {
    if (const auto known = cached_calls_.find(spelling); known != cached_calls_.end()) {
      return known->second;
    }
  }
  if (!options.pure && !options.cached) ++impure_calls_;
  Result<Value> value = call_resolver(frame, *resolver, arguments);
  if (!value) {
    return resolver_error(frame, at, name, value.error());
  }
  if (options.cached) cached_calls_.emplace(std::move(spelling), *value);
  return value;
}

Result<Value> Resolution::call_resolver(const Frame& frame, const ResolverRegistry::Entry& resolver,
                                        const std::vector<Value>& arguments) {
  const ResolverOptions& options = resolver.options;
  if (arguments.size() < options.least_arguments || arguments.size() > options.most_arguments) {
    const bool one = options.most_arguments == 1;
    return Error(ErrorKind::Config, "takes " + wanted_arguments(options) +
                                        (one ? " argument, not " : " arguments, not ") +
                                        std::to_string(arguments.size()));
  }
  return resolver.function(ResolverCall{arguments, *this, frame.holder, frame.parent});
}

Result<Value> Resolution::decode(const ResolverCall& call, std::string_view text) {
  const Frame frame{call.holder, call.parent, text};
  PL_TRY(charge(call.holder, 1 + text.size()));
  const Result<Expression> parsed = parse_element(text);
  if (!parsed) return located(frame, parsed.error());
  if (depth_ >= kMaxDepth) return circle_error(call.holder);
  depth_ += kEvaluateDepth;
  Result<Value> value = evaluate(frame, *parsed);
  depth_ -= kEvaluateDepth;
  return value;
}

Error Resolution::error_at(const Frame& frame, std::size_t offset, ErrorKind kind,
                           std::string message, const char* reason) const {
  const TextPlace place = place_in_text(frame.text, offset);
  const std::string key = full_key(frame.holder);
  if (!key.empty()) message = key + ": " + message;
  return Error(kind, std::move(message), written_at(frame.holder))
      .with_excerpt(place.content, place.column)
      .with_reason(reason);
}

Error Resolution::located(const Frame& frame, const Error& problem) const {
  const Position within = problem.position().value_or(Position{"", 1, 1});
  const std::string key = full_key(frame.holder);
  return Error(problem.kind(), key.empty() ? problem.message() : key + ": " + problem.message(),
               written_at(frame.holder))
      .with_excerpt(line_of(frame.text, within.line), within.column)
      .with_reason("grammar");
}

Error Resolution::resolver_error(const Frame& frame, const Expression& at, const std::string& name,
                                 const Error& problem) const {
  // An error with a reason and a place is about a value that the resolver looked up.
  if (!problem.reason().empty() && problem.position()) return problem;
  const char* reason = problem.reason() == "grammar" ? "grammar" : "resolver_error";
  return error_at(frame, at.offset, problem.kind(), name + ": " + problem.to_string(), reason);
}

Error Resolution::selection_error(const Frame& frame, const Expression& at, const std::string& key,
                                  const Selection& selection) const {
  const std::string name = "interpolation key " + in_quotes(key);
  const auto fail = [&](const std::string& what, const char* reason) {
    return error_at(frame, at.offset, ErrorKind::Config, name + what, reason);
  };
  switch (selection.outcome) {
    case Selection::Outcome::AboveRoot:
      return fail(" goes above the root", "interpolation_key");
    case Selection::Outcome::Missing:
      return fail(" leads to " + in_quotes(full_key(*selection.where)) + ", whose value is ???",
                  "missing_value");
    case Selection::Outcome::NotContainer:
      return fail(" not found: " + in_quotes(full_key(*selection.where)) + " is " +
                      std::string(selection.value.described()) + " and has no " +
                      in_quotes(selection.steps[selection.failed_step + 1]),
                  "resolver_error");
    case Selection::Outcome::BadIndex:
      return fail(" not found: " + in_quotes(full_key(*selection.where)) + " is a list and " +
                      in_quotes(selection.steps[selection.failed_step]) + " is not an index",
                  "resolver_error");
    default:
      return fail(" not found" + nearest_key(key, selection), "interpolation_key");
  }
}

/// ` (did you mean 'a.c'?)` for `a.b`, from the keys of the map that lacks it.
std::string Resolution::nearest_key(const std::string& key, const Selection& selection) {
  if (selection.where == nullptr || !selection.where->node->is_map()) return {};
  const std::vector<std::string> close = nearest(selection.steps[selection.failed_step],
                                                 selection.where->node->as_map().string_keys());
  if (close.empty()) return {};
  std::vector<std::string> steps = selection.steps;
  steps[selection.failed_step] = close.front();
  const std::string dots(std::min(key.find_first_not_of('.'), key.size()), '.');
  return " (did you mean " + in_quotes(dots + join(steps, ".")) + "?)";
}

Error Resolution::circle_error(const Place& again) const {
  const auto first = std::find(evaluating_.begin(), evaluating_.end(), &again);
  std::string message = full_key(again) + ": ";
  if (first != evaluating_.end()) {
    message += "the interpolations are circular: ";
    for (auto step = first; step != evaluating_.end(); ++step) message += full_key(**step) + " -> ";
    message += full_key(again);
  } else if (depth_ >= kMaxDepth) {
    message += "too many nested values or references";
  } else {
    message += "this " + std::string(again.node->is_map() ? "map" : "list") + " contains itself";
  }
  return Error(ErrorKind::Config, std::move(message), written_at(again)).with_reason("circular");
}

}  // namespace profline::config
