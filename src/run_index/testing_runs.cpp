#include "run_index/testing_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json_write.h"
#include "records/sample.h"

namespace profline::run_index {
namespace {

void write_text(const std::filesystem::path& file, const std::string& text) {
  ASSERT_TRUE(create_folders(file.parent_path()));
  ASSERT_TRUE(write_file_atomic(file, text));
}

}  // namespace

void TestRun::write(const std::filesystem::path& folder) const {
  RunRecord record;
  record.id = folder.filename().string();
  record.experiment = experiment;
  record.state = state;
  record.device = device;
  record.host = "here";
  record.version = "0.1.0";
  record.started = fmt::format("2026-11-15T10:00:{:02}.000Z", second);
  if (state != RunState::Running) {
    record.exit_code = state == RunState::Ok ? 0 : 1;
    record.ended = fmt::format("2026-11-15T10:01:{:02}.000Z", second);
  }
  write_text(folder / "config.resolved.json",
             fmt::format(R"({{"model":{{"name":"{}"}},"device":"{}"}})", model, device));
  write_text(folder / "env.json",
             R"({"cpu":{"model":"EPYC"},"gpus":[{"index":0,"name":"NVIDIA H200"}]})");
  Sample sample;
  sample.image = "page-1";
  sample.prefill_ns = 1'000'000;
  sample.token_ns = {static_cast<std::int64_t>(token_ms * 1e6)};
  sample.decode_ns = sample.token_ns.front();
  write_text(folder / "baseline" / "samples.jsonl", to_json_line(sample) + "\n");
  write_text(folder / "run.json", write_json(to_node(record)).value());
}

}  // namespace profline::run_index
