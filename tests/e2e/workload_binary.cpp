#include "workload_binary.h"

#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/paths.h"

namespace profline::e2e {
namespace {

std::string resolved_config(std::vector<std::string> arguments,
                            const std::vector<std::string>& overrides) {
  arguments.insert(arguments.begin(), {"config", "--resolve", "--format", "json", "device=cpu",
                                       "pipeline.workload.threads=1", "dataset.pages=1",
                                       "dataset.page_sizes=[96x64]"});
  arguments.insert(arguments.end(), overrides.begin(), overrides.end());
  const Outcome outcome = run_profline(std::move(arguments));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "config");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? write_json(*document->find("config")).value() : "";
}

}  // namespace

std::filesystem::path workload_program() {
  return testing::binary_dir() / "bin/profline-workload";
}

bool has_workload() {
  return std::filesystem::exists(workload_program());
}

bool workload_has_nvtx() {
  Command command;
  command.argv = {workload_program().string(), "--version", "--format", "json"};
  const Outcome outcome = run_command(command);
  const auto facts = parse_json(outcome.out, "version");
  const Node* nvtx = facts ? facts->find("nvtx") : nullptr;
  EXPECT_TRUE(nvtx != nullptr && nvtx->is_bool()) << outcome.out << outcome.err;
  return nvtx != nullptr && nvtx->as_bool();
}

std::string tiny_config(const std::vector<std::string>& overrides) {
  return resolved_config({"--config-name", "demo", "infer.max_new_tokens=4"}, overrides);
}

std::string dummy_config(const std::vector<std::string>& overrides) {
  return resolved_config({"--config-name", "dummy"}, overrides);
}

Outcome run_workload_in(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  Command command;
  command.cwd = folder;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), workload_program().string());
  return run_command(std::move(command));
}

}  // namespace profline::e2e
