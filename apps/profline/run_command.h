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
    return "run the enabled stages and write a run directory";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline run device=cpu pipeline.torch_profiler.enable=true",
         "profile the model of the config on the CPU"},
        {"profline run pipeline.nsys.enable=true pipeline.ncu.enable=true",
         "add Nsight Systems and Nsight Compute"},
        {"profline run 'pipeline.workload.command=[python3,infer.py]' pipeline.nsys.enable=true",
         "profile a program of your own"},
        {"profline run --resume tmp/profile-output/20261115-100000",
         "resume a run that was cut off"},
    };
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
    return "run everything on a tiny model; needs no GPU and no download";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline demo", "static analysis, baseline and profilers in a few seconds"},
        {"profline demo --dry-run", "show what it would run"},
    };
  }
  std::vector<Option> options() const override;

 protected:
  std::string_view config_name() const override { return "demo"; }
};

}  // namespace profline
