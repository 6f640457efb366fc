#pragma once

#include <string>
#include <string_view>

#include "base/progress.h"

namespace profline::pipeline {

/// Passes what a child prints on to our own progress: its last line, or its current count. Lines of
/// the built-in workload lose their name prefix, and its warnings are left out because they come
/// back as findings.
class ChildOutput {
 public:
  explicit ChildOutput(Progress& progress) : progress_(progress) {}

  /// Takes output in pieces of any size; a line ends only with its newline. Empty: time has passed
  /// without output.
  void take(std::string_view bytes);

 private:
  void show(std::string_view line);

  Progress& progress_;
  std::string begun_;
};

/// The part of a line that is worth showing: a count without the name in front of it; empty:
/// nothing.
std::string_view shown_part(std::string_view line);

}  // namespace profline::pipeline
