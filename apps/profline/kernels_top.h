#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels top REPORT`: the kernels of a report by time, as YAML of names and regular
/// expressions. The report is an SQLite export of nsys, a kernel summary of `nsys stats` as CSV, a
/// .nsys-rep, which needs nsys, or a Kineto trace.
class KernelsTopVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels top"; }
  std::string_view summary() const override {
    return "list the kernels of an nsys report or a trace by time, for kernels profile";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels top run.sqlite --topk 10",
         "the ten kernels that take the most time, as YAML"},
    };
  }
  std::string_view words() const override { return "REPORT"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
