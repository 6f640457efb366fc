#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/node.h"

namespace profline {

/// Calls `visit` with the full key (`a.b`) and value of everything below the root that is in a map;
/// maps come before what is in them. What is in a list has no key of its own here.
void for_each_key(const Node& root,
                  const std::function<void(const std::string&, const Node&)>& visit);

/// The Error of asking for a key that the config does not have, with the one that was probably
/// meant: what replaced it, a similar one, or one that ends alike (`max_new_tokens`,
/// `infer.max_new_tokens`).
Error no_such_key(const Node& root, std::string_view key);

}  // namespace profline
