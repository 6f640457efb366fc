#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

/// What the model answered for an image, as predictions.jsonl has it (docs/formats/predictions.md).
namespace profline::predictions {

struct Prediction {
  std::string image;  ///< its name in the dataset
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
  std::string text_raw;    ///< all that was generated, special tokens included
  std::string text_clean;  ///< see clean_text()
  std::uint64_t prompt_tokens = 0;
  std::uint64_t tokens = 0;  ///< generated, the first one included
  std::string finish;        ///< why generation ended: `eos`, `length`
  double prefill_ms = 0;
  double decode_ms = 0;
  double vision_ms = 0;
  std::optional<std::string>
      pictures;  ///< folder of its pictures, relative to that of all pictures
};

/// One trailing end-of-sentence marker and blanks at either end taken away, then every one of
/// `special_tokens` (those of the tokenizer, when strip_special_tokens is set).
std::string clean_text(std::string_view raw, std::span<const std::string> special_tokens = {});

/// One line of predictions.jsonl, its line feed included. Fails on times that are not finite.
Result<std::string> prediction_line(const Prediction& prediction);

/// The whole file, atomically.
Result<void> write_predictions(const std::filesystem::path& path,
                               std::span<const Prediction> predictions);

}  // namespace profline::predictions
