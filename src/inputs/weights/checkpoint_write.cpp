#include "inputs/weights/checkpoint_write.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/files.h"
#include "formats/json_write.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/deterministic.h"
#include "inputs/weights/safetensors_write.h"
#include "inputs/weights/tensor_specs.h"

namespace profline::weights {
namespace {

constexpr std::size_t kChunk = 1 << 18;  // elements

Result<void> check_folder(const std::filesystem::path& folder, std::uint64_t bytes) {
  for (const std::string_view name : {kSingleFile, kIndexFile, kOnlyShard}) {
    std::error_code ignored;  // what cannot be asked about is not there
    if (std::filesystem::exists(folder / name, ignored)) {
      return Error(ErrorKind::Config, folder.string() + " holds a checkpoint already (" +
                                          std::string(name) + "); name another folder");
    }
  }
  const std::uint64_t room = PL_TRY(free_bytes(folder));
  if (room < bytes) {
    return Error(ErrorKind::Config, "the checkpoint takes " + human_bytes(bytes) + ", and " +
                                        folder.string() + " has room for " + human_bytes(room));
  }
  return {};
}

/// Appends a tensor's values, a chunk at a time.
template <typename Element, typename Fill>
Result<void> append_values(const TensorSpec& spec, const Fill& fill_chunk, Loop& loop,
                           SafetensorsWriter& writer) {
  const auto count = static_cast<std::size_t>(spec.element_count());
  std::vector<Element> values(std::min(count, kChunk));
  for (std::size_t done = 0; done < count; done += values.size()) {
    values.resize(std::min(count - done, kChunk));
    fill_chunk(spec, std::span(values), done);
    PL_TRY(writer.append(std::as_bytes(std::span(values))));
    loop.advance(values.size() * sizeof(Element));
  }
  return {};
}

Result<void> write_shard(const std::filesystem::path& path, const std::vector<TensorSpec>& specs,
                         Dtype dtype, Progress& progress) {
  std::vector<TensorLayout> layout;
  layout.reserve(specs.size());
  std::uint64_t bytes = 0;
  for (const TensorSpec& spec : specs) {
    layout.push_back({spec.name, dtype, spec.shape});
    bytes += layout.back().byte_count();
  }
  // transformers refuses a file that does not say whose tensors it holds.
  auto writer = PL_TRY(SafetensorsWriter::create(path, layout, {{"format", "pt"}}));
  Loop loop(progress, "bytes", bytes);
  for (const TensorSpec& spec : specs) {
    if (dtype == Dtype::F32) {
      PL_TRY(append_values<float>(spec, fill, loop, writer));
    } else {
      PL_TRY(append_values<std::uint16_t>(spec, fill_bf16, loop, writer));
    }
  }
  return writer.commit();
}

Result<void> write_index(const std::filesystem::path& path, const std::vector<TensorSpec>& specs,
                         std::uint64_t bytes) {
  NodeMap metadata;
  metadata.set("total_size", Node::integer(static_cast<std::int64_t>(bytes)));
  NodeMap shards;
  for (const TensorSpec& spec : specs) {
    shards.set(spec.name, Node::string(std::string(kOnlyShard)));
  }
  NodeMap index;
  index.set("metadata", Node::map(std::move(metadata)));
  index.set("weight_map", Node::map(std::move(shards)));
  return write_file_atomic(path, PL_TRY(write_json(Node::map(std::move(index)))));
}

}  // namespace

Result<void> write_checkpoint(const std::filesystem::path& folder, DeepseekOcrConfig config,
                              Dtype dtype, Progress& progress) {
  PL_ASSERT(dtype == Dtype::F32 || dtype == Dtype::BF16, "the values have these two forms");
  const std::vector<TensorSpec> specs = tensor_specs(config);
  const std::uint64_t bytes = static_cast<std::uint64_t>(element_count(specs)) * bits(dtype) / 8;
  PL_TRY(check_folder(folder, bytes));
  PL_TRY(create_folders(folder));
  PL_TRY(write_shard(folder / kOnlyShard, specs, dtype, progress));
  PL_TRY(write_index(folder / kIndexFile, specs, bytes));
  config.torch_dtype = dtype == Dtype::F32 ? "float32" : "bfloat16";
  return write_file_atomic(folder / "config.json", PL_TRY(write_json(to_node(config))));
}

}  // namespace profline::weights
