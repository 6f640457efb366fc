#include "run_index/testing_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "records/request.h"

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
  write_text(
      folder / "env.json",
      R"({"schema":"profline.env/1","cpu":{"model":"EPYC"},"gpus":[{"index":0,"name":"NVIDIA H200"}]})");
  const auto token_ns = static_cast<std::int64_t>(token_ms * 1e6);
  Request request;
  request.ns = 1'000'000 + token_ns;
  request.new_tokens = 2;
  request.phases = {{"prefill", 0, 1'000'000, {}},
                    {"decode", 1'000'000, token_ns, std::vector{token_ns}}};
  request.attributes = {{"image", Node::string("page-1")}};
  write_text(folder / "baseline" / "requests.jsonl", to_json_line(request) + "\n");
  write_text(folder / "run.json", write_json(to_node(record)).value());
}

}  // namespace profline::run_index
