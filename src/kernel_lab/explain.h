#pragma once

#include <string>

#include "process/exit.h"
#include "tools/ncu/messages.h"

namespace profline::kernel_lab {

/// Why a capture is none, from what ncu said and how it ended, with what to do; empty when nothing
/// speaks against it. `regex` and `launches` (how many match, in words; may be empty) are for the
/// message.
std::string why_failed(const ncu::Messages& messages, const Exit& exit, const std::string& regex,
                       const std::string& counted);

}  // namespace profline::kernel_lab
