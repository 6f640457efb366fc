#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/exit_code.h"
#include "formats/json_write.h"
#include "profline_version.h"
#include "workload/torch_build.h"

namespace {

using profline::ExitCode;

std::string version_text(bool as_json) {
  const profline::workload::TorchBuild build = profline::workload::torch_build();
  if (as_json) return profline::write_json(to_node(build)).value();
  return fmt::format("profline-workload {} ({}), libtorch {} ({}), {}, {} threads\n",
                     profline::kVersion, profline::kCommit, build.version,
                     build.cuda ? "CUDA" : "CPU", build.blas, build.threads);
}

ExitCode run(int argc, char** argv) {
  CLI::App app("The model that profline profiles, in libtorch.", "profline-workload");
  bool show_version = false;
  std::string format = "text";
  app.add_flag("--version", show_version, "show version, libtorch and BLAS");
  app.add_option("--format", format, "form of --version")->check(CLI::IsMember({"text", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return ExitCode::Done;
  } catch (const CLI::ParseError& failure) {
    fmt::print(stderr, "profline-workload: {}\n", failure.what());
    return ExitCode::BadInput;
  }
  fmt::print("{}", show_version ? version_text(format == "json") : app.help());
  return ExitCode::Done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "profline-workload: {}\n", failure.what());
  } catch (...) {
    fmt::print(stderr, "profline-workload: an exception that is none of C++'s own\n");
  }
  return static_cast<int>(ExitCode::Failed);
}
