#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/field.h"

namespace profline {

/// Why generation ended.
enum class FinishReason {
  Eos,     ///< the model said so
  Length,  ///< infer.max_new_tokens, or the model's own window
  None,    ///< this workload generates nothing
};
constexpr auto names(std::type_identity<FinishReason>) {
  using schema::named;
  return std::array{named(FinishReason::Eos, "eos"), named(FinishReason::Length, "length"),
                    named(FinishReason::None, "none")};
}

/// One measured inference: a line of samples.jsonl.
struct Sample {
  std::string image;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t new_tokens = 0;
  FinishReason finish = FinishReason::None;
  std::int64_t preprocess_ns = 0;
  std::int64_t prefill_ns = 0;
  // Null: this workload, or this input, has no such part.
  std::optional<std::int64_t> sam_ns;
  std::optional<std::int64_t> clip_ns;
  std::optional<std::int64_t> projector_ns;
  std::optional<std::int64_t> lm_ns;
  std::optional<std::int64_t> decode_ns;
  std::vector<std::int64_t> token_ns;
  std::string dtype;
  std::uint32_t threads = 0;
  std::string engine;

  bool operator==(const Sample&) const = default;
};
constexpr auto fields(std::type_identity<Sample>) {
  using schema::field;
  return field_list(
      field("image", &Sample::image, "path or name of the picture").required(),
      field("epoch", &Sample::epoch, "from 0").required(),
      field("index", &Sample::index, "in its epoch, from 0").required(),
      field("prompt_tokens", &Sample::prompt_tokens, "image tokens included").required(),
      field("new_tokens", &Sample::new_tokens, "the first one, made by prefill, included")
          .required(),
      field("finish", &Sample::finish, "why generation ended").required(),
      field("preprocess_ns", &Sample::preprocess_ns, "from the file to tensors on the device")
          .required(),
      field("prefill_ns", &Sample::prefill_ns, "sam, clip, projector and lm are parts of it")
          .required(),
      field("sam_ns", &Sample::sam_ns, "all views"),
      field("clip_ns", &Sample::clip_ns, "all views"),
      field("projector_ns", &Sample::projector_ns, "all views"),
      field("lm_ns", &Sample::lm_ns, "the language model's part of prefill"),
      field("decode_ns", &Sample::decode_ns, "all steps after prefill"),
      field("token_ns", &Sample::token_ns, "each step: the tokens after the first").required(),
      field("dtype", &Sample::dtype, "of tensors").required(),
      field("threads", &Sample::threads, "CPU threads of libtorch").required(),
      field("engine", &Sample::engine, "how the model was run").required());
}

/// One line, without its end.
std::string to_json_line(const Sample& sample);

/// All lines of a samples.jsonl. A line that is none is an Error with its number; `source` names
/// the file in it.
Result<std::vector<Sample>> parse_samples(std::string_view text, const std::string& source);

}  // namespace profline
