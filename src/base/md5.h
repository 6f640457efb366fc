#pragma once

#include <string>
#include <string_view>

namespace profline {

/// The MD5 of RFC 1321 as 32 lower-case hexadecimal digits: a short name for a long text, where
/// people already have folders named so. It proves nothing; use Sha256 for that.
std::string md5_hex(std::string_view bytes);

}  // namespace profline
