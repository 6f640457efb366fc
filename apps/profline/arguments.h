#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace profline {

/// An option of a command line: `--config-name demo`, `-cn demo`, `--config-name=demo`.
struct Option {
  enum class Takes {
    Nothing,
    Value,
    MaybeValue,  ///< the next argument, unless that is an option or an override
    Values,      ///< a comma-separated list
  };

  std::string_view name;   ///< `--config-name`
  std::string_view alias;  ///< `-cn`; may be empty
  Takes takes = Takes::Nothing;
  std::string_view value_name{};  ///< `NAME`, for help
  std::string_view help{};
  std::vector<std::string> choices{};  ///< the allowed values; empty: any
};

/// A parsed command line: the options, and the other words in order.
class Arguments {
 public:
  std::vector<std::string> words;
  /// What follows `--`; nothing without it.
  std::optional<std::vector<std::string>> program{};

  bool has(std::string_view option) const;
  /// The last value of the option; nothing without the option, or without a value.
  std::optional<std::string> value(std::string_view option) const;
  /// The parts of a list; empty without the option.
  std::vector<std::string> values(std::string_view option) const;
  /// Every value of the option, in order.
  std::vector<std::string> each_value(std::string_view option) const;
  /// How often the option occurs.
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

/// Options may occur anywhere between the other words; after `--` nothing is one. An Error names an
/// option that is not in `known` (with the nearest one) or that is used incorrectly.
Result<Arguments> split_arguments(std::span<const std::string> arguments,
                                  std::span<const Option> known);

/// Whether a word could be an override in Hydra's grammar, and so is not a command or key: `a=b`,
/// `+a`, `~a`.
bool looks_like_override(std::string_view word);

/// The option of that name or alias; a null pointer if it does not exist.
const Option* find_option(std::string_view name, std::span<const Option> known);

// Values of options. The Errors name the option, what it takes and what it got.

/// The range of integers that an option takes.
struct WholeNumbers {
  std::uint64_t least = 1;
  std::uint64_t most = 1'000'000'000;
};
/// `what` describes the text: `--keep`, `a side in --views`.
Result<std::uint64_t> parse_whole_number(std::string_view text, std::string_view what,
                                         WholeNumbers takes = {});
/// The same for an option; nothing if it was not given.
Result<std::optional<std::uint64_t>> whole_number(const Arguments& arguments,
                                                  std::string_view option, WholeNumbers takes = {});
/// Two whole numbers, `10:40` or `10-40`, the second not below the first.
struct WholeNumberRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;

  bool operator==(const WholeNumberRange&) const = default;
};
Result<WholeNumberRange> parse_whole_number_range(std::string_view text, std::string_view option,
                                                  WholeNumbers takes = {});

/// The number of rows without `--top`.
inline constexpr std::size_t kDefaultTop = 20;
/// The number of rows that `--top` requests; `all` is the largest possible number. Nothing if it
/// was not given.
Result<std::optional<std::size_t>> rows_asked_for(const Arguments& arguments);

/// A share as a user writes it, `3%` or `0.03`, from 0 to below 1. A bare number of 1 and more is
/// taken for a percent sign forgotten.
Result<double> parse_share(std::string_view text, std::string_view option);

// Messages for command lines that name a program to profile, but not after `--`. Each is one line
// and shows the line that was probably meant.

/// The words that may begin a command, and what counts as a program.
struct NearMissRules {
  std::span<const Option> options;      ///< of all commands
  std::vector<std::string_view> verbs;  ///< first words of all commands
  /// Whether a shell would find this program, or it is a file here.
  std::function<bool(const std::string& word)> is_program;
};

/// An Error for `profline python3 x.py`, `profline run x.py` and the like: a program in the place
/// of a command or of an override. Nothing for all other lines.
std::optional<Error> program_without_dashes(const std::vector<std::string>& arguments,
                                            const NearMissRules& rules);

/// An Error for a line whose `--` has nothing after it, or no command ahead of it, or the wrong
/// one; or one that names the program twice. `verb` is empty if the line has none.
std::optional<Error> misplaced_program(const Arguments& given, std::string_view verb);

/// Whether `word` is a file here, or a program on PATH.
bool is_known_program(const std::string& word);

}  // namespace profline
