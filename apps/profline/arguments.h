#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace profline {

/// An option that a command line may hold: `--config-name demo`, `-cn demo`, `--config-name=demo`.
struct Option {
  enum class Takes {
    Nothing,
    Value,
    MaybeValue,  ///< the next argument, unless that is an option or an override
    Values,      ///< a list with commas between
  };

  std::string_view name;   ///< `--config-name`
  std::string_view alias;  ///< `-cn`; may be empty
  Takes takes = Takes::Nothing;
  std::string_view value_name{};  ///< `NAME`, for help
  std::string_view help{};
  std::vector<std::string> choices{};  ///< the values there are; empty: any
};

/// A command line taken apart: what is an option, and the other words in their order.
class Arguments {
 public:
  std::vector<std::string> words;

  bool has(std::string_view option) const;
  /// What the option was given last; nothing without the option, or without a value.
  std::optional<std::string> value(std::string_view option) const;
  /// The parts of a list; empty without the option.
  std::vector<std::string> values(std::string_view option) const;
  /// Every value that the option was given, in order.
  std::vector<std::string> each_value(std::string_view option) const;
  /// How often the option stands there.
  int count(std::string_view option) const;

  struct Given {
    std::string name;
    std::optional<std::string> value;
  };
  const std::vector<Given>& options() const { return options_; }
  void add(Given given) { options_.push_back(std::move(given)); }

 private:
  std::vector<Given> options_;
};

/// Options may stand anywhere between the other words; after `--` everything is a word. An Error
/// tells of an option that is not among `known` (with the nearest one) or that is used wrongly.
Result<Arguments> split_arguments(std::span<const std::string> arguments,
                                  std::span<const Option> known);

/// True for what Hydra's grammar might take, and no command or key is: `a=b`, `+a`, `~a`.
bool looks_like_override(std::string_view word);

/// The option of that name or alias; a null pointer when there is none.
const Option* find_option(std::string_view name, std::span<const Option> known);

// What options are given, as values. The Errors name the option, what it takes and what it got.

/// The whole numbers that an option takes.
struct WholeNumbers {
  std::uint64_t least = 1;
  std::uint64_t most = 1'000'000'000;
};
/// `what` is what the text is: `--keep`, `a side in --views`.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::string_view what,
                                         WholeNumbers takes = {});
/// The same of an option; nothing where it was not given.
Result<std::optional<std::uint64_t>> whole_number(const Arguments& arguments,
                                                  std::string_view option, WholeNumbers takes = {});
/// How many rows `--top` asks for: a number, or `all`, which is the largest there is. Nothing where
/// it was not given.
Result<std::optional<std::size_t>> rows_asked_for(const Arguments& arguments);

/// A share as a user writes it, `3%` or `0.03`, from 0 to below 1. A bare number of 1 and more is
/// taken for a percent sign forgotten.
Result<double> parse_share(std::string_view text, std::string_view option);

}  // namespace profline
