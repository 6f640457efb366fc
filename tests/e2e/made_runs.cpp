#include "made_runs.h"

#include <cmath>
#include <random>

#include "formats/json.h"
#include "profline_binary.h"

namespace profline::e2e {
namespace {

Node text(std::string value) {
  return Node::string(std::move(value));
}

/// Four steps, the last of which may stall.
Node sample_of(int image, std::int64_t token_ns, double stall) {
  constexpr std::int64_t kPrefill = 30'000'000;
  const auto last_ns = static_cast<std::int64_t>(stall * static_cast<double>(token_ns));
  NodeMap sample;
  sample.set("image", text("page-" + std::to_string(image)));
  for (const char* key : {"epoch", "prompt_tokens"}) sample.set(key, Node::integer(0));
  sample.set("index", Node::integer(image));
  sample.set("new_tokens", Node::integer(5));
  sample.set("finish", text("length"));
  sample.set("preprocess_ns", Node::integer(1'000'000));
  sample.set("prefill_ns", Node::integer(kPrefill));
  sample.set("decode_ns", Node::integer(3 * token_ns + last_ns));
  sample.set("token_ns", Node::list({Node::integer(token_ns), Node::integer(token_ns),
                                     Node::integer(token_ns), Node::integer(last_ns)}));
  sample.set("dtype", text("bf16"));
  sample.set("threads", Node::integer(1));
  sample.set("engine", text("eager"));
  return Node::map(std::move(sample));
}

std::string compact(const Node& node) {
  return write_json(node, {.indent = 0}).value();
}

}  // namespace

void MadeRun::write(const std::filesystem::path& folder) const {
  NodeMap run;
  run.set("schema", text("profline.run/1"));
  run.set("id", text(id));
  run.set("experiment", text(experiment));
  run.set("state", text(state));
  run.set("started", text(started));
  run.set("device", text(device));
  run.set("commit", text(commit));
  // Numbers from the engine itself, which are the same in every library, unlike its distributions.
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::string samples;
  Node images_read = Node::list();
  for (int image = 0; image < images; ++image) {
    double noise = -6;
    for (int i = 0; i < 12; ++i) noise += static_cast<double>(random() >> 11U) * 0x1p-53;
    const double ms = token_ms * std::exp(deviation * noise);
    samples += compact(sample_of(image, std::llround(ms * 1e6), stall)) + "\n";
    NodeMap entry;
    entry.set("image", text("page-" + std::to_string(image)));
    entry.set("sha256", text(digest));
    images_read.as_list().push_back(Node::map(std::move(entry)));
  }
  if (wall_ms > 0) {
    write_files(
        folder,
        {{"baseline/process.json", "{\"schema\": \"profline.process/1\", \"wall_ns\": " +
                                       std::to_string(std::llround(wall_ms * 1e6)) + "}"},
         {"config.resolved.json", R"({"model": {"name": "deepseek_ocr"}, "pipeline": {"workload": )"
                                  R"({"command": ["python3", "train.py"]}}})"},
         {"run.json", compact(Node::map(std::move(run)))}});
    return;
  }
  NodeMap inputs;
  inputs.set("images", std::move(images_read));
  write_files(folder, {{"baseline/samples.jsonl", samples},
                       {"inputs.yaml", compact(Node::map(std::move(inputs)))},
                       {"config.resolved.json", R"({"model": {"name": "tiny"}})"},
                       {"run.json", compact(Node::map(std::move(run)))}});
}

}  // namespace profline::e2e
