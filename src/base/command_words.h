#pragma once

#include <span>
#include <string>

namespace profline {

/// The part of a command line that names the program people mean: `python3 x.py` of
/// `env A=1 taskset -c 4,5 python3 x.py`. Programs that only prepare the start of another one are
/// left out with their options; what is not understood stays.
std::span<const std::string> program_words(std::span<const std::string> command);

}  // namespace profline
