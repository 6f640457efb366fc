#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels profile (--kernel-config F | --kernel-regex RE) [OPTIONS] -- CMD…`: one ncu
/// capture a kernel, of launches that fit. Exit code 1 when a kernel could not be captured.
class KernelsProfileVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels profile"; }
  std::string_view summary() const override {
    return "capture kernels with ncu, one capture per kernel";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels profile --kernel-regex 'gemm' -- python3 infer.py",
         "every kernel whose name contains gemm"},
        {"profline kernels profile --kernel-config top.yaml -- python3 infer.py",
         "the kernels that kernels top wrote"},
    };
  }
  std::string_view words() const override { return "-- PROGRAM..."; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
