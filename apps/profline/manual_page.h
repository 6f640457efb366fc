#pragma once

#include <string>
#include <string_view>

#include "command_line.h"

namespace profline {

/// `profline help man`.
inline constexpr std::string_view kManualWord = "man";

/// profline(1) for man(1), made of what help says. Installed as share/man/man1/profline.1.
std::string manual_page(const CommandLine& command_line);

}  // namespace profline
