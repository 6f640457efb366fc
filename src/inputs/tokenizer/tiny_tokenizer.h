#pragma once

#include <string>

namespace profline::tokenizer {

/// tokenizer.json of the tiny model: the pipeline of the release with 61 merges and 12 added
/// tokens, ids 0 to 331.
std::string tiny_tokenizer_json();

/// The tokenizer_config.json beside it.
std::string tiny_tokenizer_config_json();

}  // namespace profline::tokenizer
