#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/node.h"
#include "schema/field.h"

/// The machine and the programs of a run: `env.json`, docs/formats/env.md. Values that could not be
/// determined are null or empty.
namespace profline {

constexpr const char* kEnvironmentSchema = "profline.env/1";

struct CpuFacts {
  std::string model;
  std::int64_t threads = 0;
  std::string governor;
  std::optional<double> mhz;
  std::optional<double> max_mhz;

  bool operator==(const CpuFacts&) const = default;
};
constexpr auto fields(std::type_identity<CpuFacts>) {
  return field_list(
      field("model", &CpuFacts::model, "as the kernel names it"),
      field("threads", &CpuFacts::threads, "available to this program"),
      field("governor", &CpuFacts::governor, "of frequency scaling, of the first CPU"),
      field("mhz", &CpuFacts::mhz, "of the first CPU, at the start").unit("MHz"),
      field("max_mhz", &CpuFacts::max_mhz, "of the first CPU").unit("MHz"));
}

struct GpuFacts {
  std::int64_t index = 0;
  std::string name;
  std::string uuid;
  std::string compute_capability;
  std::uint64_t memory_bytes = 0;
  std::optional<double> sm_mhz;
  std::optional<double> max_sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> max_memory_mhz;
  std::optional<double> power_limit_w;
  std::string persistence;

  bool operator==(const GpuFacts&) const = default;
};
constexpr auto fields(std::type_identity<GpuFacts>) {
  return field_list(field("index", &GpuFacts::index, "as CUDA counts, after CUDA_VISIBLE_DEVICES"),
                    field("name", &GpuFacts::name, "as the driver names it"),
                    field("uuid", &GpuFacts::uuid, "GPU-…"),
                    field("compute_capability", &GpuFacts::compute_capability, "9.0"),
                    field("memory_bytes", &GpuFacts::memory_bytes, "total"),
                    field("sm_mhz", &GpuFacts::sm_mhz, "at the start").unit("MHz"),
                    field("max_sm_mhz", &GpuFacts::max_sm_mhz, "the maximum").unit("MHz"),
                    field("memory_mhz", &GpuFacts::memory_mhz, "at the start").unit("MHz"),
                    field("max_memory_mhz", &GpuFacts::max_memory_mhz, "the maximum").unit("MHz"),
                    field("power_limit_w", &GpuFacts::power_limit_w, "in force").unit("W"),
                    field("persistence", &GpuFacts::persistence, "Enabled or Disabled"));
}

struct ProgramFacts {
  std::string path;
  std::string version;

  bool operator==(const ProgramFacts&) const = default;
};
constexpr auto fields(std::type_identity<ProgramFacts>) {
  return field_list(field("path", &ProgramFacts::path, "where it was found"),
                    field("version", &ProgramFacts::version, "as it reports itself"));
}

struct Environment {
  std::string host;
  std::string os;
  std::string kernel;
  CpuFacts cpu;
  std::uint64_t memory_bytes = 0;
  std::string driver;
  std::string cuda;
  std::vector<GpuFacts> gpus;
  std::optional<ProgramFacts> profline;
  std::string commit;
  std::string source_commit;
  std::optional<ProgramFacts> nsys;
  std::optional<ProgramFacts> ncu;
  std::optional<ProgramFacts> workload;
  Node libtorch;
  std::map<std::string, std::string> variables;

  bool operator==(const Environment&) const = default;
};
constexpr auto fields(std::type_identity<Environment>) {
  return field_list(
      field("host", &Environment::host, "the machine's name"),
      field("os", &Environment::os, "distribution and release"),
      field("kernel", &Environment::kernel, "release of the running kernel"),
      field("cpu", &Environment::cpu, "the processor"),
      field("memory_bytes", &Environment::memory_bytes, "of the machine"),
      field("driver", &Environment::driver, "version of NVIDIA's kernel module"),
      field("cuda", &Environment::cuda, "newest CUDA that the driver runs"),
      field("gpus", &Environment::gpus, "those that CUDA sees"),
      field("profline", &Environment::profline, "this program"),
      field("commit", &Environment::commit, "profline was built from"),
      field("source_commit", &Environment::source_commit,
            "checked out in the git repository that the workload's working directory lies in; "
            "outside of one GITHUB_SHA or CI_COMMIT_SHA; empty: not known"),
      field("nsys", &Environment::nsys, "null: not needed, or not found"),
      field("ncu", &Environment::ncu, "null: not needed, or not found"),
      field("workload", &Environment::workload, "profline-workload"),
      field("libtorch", &Environment::libtorch, "docs/formats/torch_build.md"),
      field("variables", &Environment::variables, "those set that influence measurements"));
}

}  // namespace profline
