#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline run`: composes, runs the enabled stages in order, writes the run directory.
class RunVerb : public Verb {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "run the stages that the config switches on and write a run directory";
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;

 protected:
  /// The config to begin with when none is named.
  virtual std::string_view config_name() const { return "config"; }
};

/// `profline demo`: the same with a tiny model and drawn pages.
class DemoVerb final : public RunVerb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view summary() const override {
    return "a run on a tiny model and drawn pages; needs no GPU and no download";
  }
  std::vector<Option> options() const override;

 protected:
  std::string_view config_name() const override { return "demo"; }
};

}  // namespace profline
