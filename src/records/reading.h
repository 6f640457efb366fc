#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// How much of a file a reader used: each event was used or skipped, and a skipped one has a
/// reason. `events() == used + sum of skipped` holds by construction.
struct Reading {
  struct Skipped {
    std::string reason;  ///< "end before start"
    std::uint64_t count = 0;
    std::string first_position;  ///< where the first of them is: "row 17", "byte 10442"
    /// It is not about the program: a mark of the tool itself, or a hint for viewers.
    bool is_of_the_tool = false;

    bool operator==(const Skipped&) const = default;
  };

  std::uint64_t used = 0;
  std::vector<Skipped> skipped;    ///< by first occurrence
  std::vector<std::string> notes;  ///< what the user must know: missing tables, odd times
  /// What is missing according to the tool itself or because the file is damaged, each a sentence:
  /// `Not all CUDA events might have been collected.`
  std::vector<std::string> losses;
  std::uint64_t lost = 0;  ///< events that the tool says it lost, as far as it counted them

  bool operator==(const Reading&) const = default;

  std::uint64_t events() const;
  void skip(std::string_view reason, std::string_view position, std::uint64_t count = 1,
            bool is_of_the_tool = false);
  /// Adds the counts of another file.
  void append(const Reading& other);
};

}  // namespace profline
