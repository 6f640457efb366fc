#pragma once

#include <span>
#include <string>

namespace profline::web {

/// The Content-Security-Policy of a page with these inline scripts: they run, by their hashes, and
/// nothing else does; nothing is loaded from anywhere.
std::string content_policy(std::span<const std::string> scripts);

}  // namespace profline::web
