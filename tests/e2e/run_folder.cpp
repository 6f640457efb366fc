#include "run_folder.h"

#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "run/run.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStagesOfRun[] = {
    "static_analysis", "baseline", "torch_profiler", "nsys", "ncu", "direct_inference"};

void check_json(const fs::path& file, std::vector<std::string>& damage) {
  const auto document = parse_json(read_file(file).value_or(""), file.string());
  if (!document) {
    damage.push_back(document.error().to_string());
    return;
  }
  const bool is_trace = file.filename() == "trace.json" || file.filename() == "info.json";
  if (document->find("schema") == nullptr && !is_trace) {
    damage.push_back(file.string() + ": no schema");
  }
}

void check_artifacts(const fs::path& run, const std::vector<ArtifactRecord>& artifacts,
                     std::vector<std::string>& damage) {
  for (const ArtifactRecord& artifact : artifacts) {
    const auto digest = sha256_file(run / artifact.path);
    if (!digest || *digest != artifact.sha256) {
      damage.push_back(artifact.path.string() + ": not what run.json says");
    }
  }
}

}  // namespace

std::vector<std::string> tiny_run(const std::vector<std::string>& overrides) {
  std::vector<std::string> words = {"run",
                                    "--config-name",
                                    "demo",
                                    "device=cpu",
                                    "pipeline.workload.threads=1",
                                    "dataset.pages=1",
                                    "dataset.page_sizes=[96x64]",
                                    "infer.max_new_tokens=4",
                                    "pipeline.torch_profiler.warmup_rounds=1",
                                    "hydra.run.dir=run"};
  for (const char* stage : kStagesOfRun) {
    words.push_back("pipeline." + std::string(stage) + ".enable=false");
  }
  words.insert(words.end(), overrides.begin(), overrides.end());
  return words;
}

std::vector<std::string> own_command_run(const std::string& command,
                                         const std::vector<std::string>& overrides) {
  std::vector<std::string> words = tiny_run({"pipeline.baseline.enable=true"});
  words.push_back("pipeline.workload.command=" + command);
  words.insert(words.end(), overrides.begin(), overrides.end());
  return words;
}

RunRecord record_of(const fs::path& run) {
  auto record = run::read_record(run);
  EXPECT_TRUE(record) << record.error().to_string();
  return record ? std::move(*record) : RunRecord{};
}

StageState state_of(const RunRecord& run, const std::string& stage) {
  const StageRecord* found = run.find_stage(stage);
  EXPECT_NE(found, nullptr) << stage;
  return found == nullptr ? StageState::Off : found->state;
}

std::vector<std::string> damage_in(const fs::path& run) {
  std::vector<std::string> damage;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".")) damage.push_back(entry.path().string() + ": a temporary");
    if (entry.is_regular_file() && name.ends_with(".json")) check_json(entry.path(), damage);
  }
  const auto record = run::read_record(run);
  if (!record) return damage;
  check_artifacts(run, record->artifacts, damage);
  for (const StageRecord& stage : record->stages) check_artifacts(run, stage.artifacts, damage);
  return damage;
}

std::vector<Request> requests_in(const fs::path& folder) {
  const auto text = read_file(folder / "requests.jsonl");
  EXPECT_TRUE(text);
  return text ? parse_requests(*text, "requests.jsonl").value_or({}) : std::vector<Request>();
}

std::vector<std::string> printed(const std::string& log, const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string_view line : lines(log)) {
    const std::size_t at = line.find(prefix);
    if (at != std::string_view::npos) found.emplace_back(line.substr(at));
  }
  return found;
}

fs::path workload_script(const fs::path& folder, const std::string& script) {
  fs::path program = folder / "workload.sh";
  const std::string text =
      "#!/bin/sh\nREAL='" + workload_program().string() + "'\n" + script + "\n";
  EXPECT_TRUE(write_file_atomic(program, text));
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

}  // namespace profline::e2e
