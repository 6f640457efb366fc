#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline config`: the composed config, or how it came to be (`--info`).
class ConfigVerb final : public Verb {
 public:
  std::string_view name() const override { return "config"; }
  std::string_view summary() const override {
    return "print the composed config and list the problems in it";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline config -cn demo --package pipeline.nsys", "one part of the config"},
        {"profline config --info defaults-tree", "how the config was put together"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

/// The options that show a config instead of doing something with it.
std::vector<Option> config_showing_options();

}  // namespace profline
