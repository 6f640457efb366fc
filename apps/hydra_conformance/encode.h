#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "formats/node.h"

namespace profline::conformance {

/// A value in the form that the vectors' README gives it in JSON: `{"$float": "nan"}` and so on.
Node encode(const Node& value);

/// A map with string keys, in this order.
Node object(std::initializer_list<std::pair<std::string_view, Node>> fields);

/// `{"ok": false, "error": {"category", "message"}}`
Node failure(const Error& error);

/// `{"category", "message"}`. The category is the Error's reason, or `other` when the vectors have
/// no name for that reason.
Node describe_error(const Error& error);

}  // namespace profline::conformance
