#include "inputs/weights/checkpoint.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/files.h"
#include "formats/json.h"
#include "inputs/weights/model_tensors.h"
#include "inputs/weights/safetensors.h"
#include "schema/docs.h"

namespace profline::weights {
namespace {

/// Whether a shard's name is a plain file of the folder itself.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// The shard of each tensor, according to the index.
Result<std::map<std::string, std::string>> read_weight_map(const Node& index) {
  const Node* weights = index.find("weight_map");
  if (weights == nullptr || !weights->is_map()) {
    return Error(ErrorKind::Parse, "must have a map 'weight_map' from tensors to files",
                 index.position());
  }
  std::map<std::string, std::string> shards;
  for (const NodeMap::Entry& entry : weights->as_map()) {
    if (!entry.value.is_string() || !is_plain_name(entry.value.as_string())) {
      return Error(ErrorKind::Parse,
                   "weight_map: tensor " + schema::shown(entry.key) +
                       " must be in a file of the same folder, not in " +
                       schema::shown(entry.value),
                   entry.value.position());
    }
    shards.emplace(entry.key.as_string(), entry.value.as_string());
  }
  return shards;
}

/// The index of a folder: the shard of each tensor.
Result<std::map<std::string, std::string>> read_index(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kIndexFile;
  const Node index = PL_TRY(parse_json(PL_TRY(read_file(path)), path.string()));
  return read_weight_map(index);
}

constexpr std::size_t kChunk = 1 << 18;  // elements

Result<void> check_folder(const std::filesystem::path& folder, std::uint64_t bytes) {
  for (const std::string_view name : {kSingleFile, kIndexFile, kOnlyShard}) {
    std::error_code ignored;  // an unreadable path counts as absent
    if (std::filesystem::exists(folder / name, ignored)) {
      return Error(ErrorKind::Config, folder.string() + " already holds a checkpoint (" +
                                          std::string(name) + "); choose another folder");
    }
  }
  const std::uint64_t room = PL_TRY(free_bytes(folder));
  if (room < bytes) {
    return Error(ErrorKind::Config, "the checkpoint takes " + human_bytes(bytes) + ", and " +
                                        folder.string() + " has room for " + human_bytes(room));
  }
  return {};
}

/// Appends a tensor's values, one chunk at a time.
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
  // transformers refuses a file without this metadata.
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

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& folder) {
  std::error_code ignored;  // an unreadable path counts as absent
  if (std::filesystem::exists(folder / kSingleFile, ignored))
    return open_file(folder / kSingleFile);
  if (std::filesystem::exists(folder / kIndexFile, ignored)) return open_index(folder);
  return Error(ErrorKind::NotFound, "no weights in " + folder.string() + ": neither " +
                                        std::string(kSingleFile) + " nor " +
                                        std::string(kIndexFile) + " is there");
}

Result<Checkpoint> Checkpoint::open_file(const std::filesystem::path& path) {
  Checkpoint checkpoint(path);
  checkpoint.files_.push_back(PL_TRY(SafetensorsFile::open(path)));
  for (const Tensor& tensor : checkpoint.files_.back().tensors()) {
    checkpoint.by_name_.emplace(tensor.name, &tensor);
  }
  return checkpoint;
}

Result<Checkpoint> Checkpoint::open_index(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kIndexFile;
  const std::map<std::string, std::string> shards = PL_TRY(read_index(folder));

  Checkpoint checkpoint(path);
  std::map<std::string, std::map<std::string_view, const Tensor*>> tensors_of;
  for (const auto& [name, shard] : shards) {
    if (tensors_of.contains(shard)) continue;
    checkpoint.files_.push_back(PL_TRY(SafetensorsFile::open(folder / shard)));
    auto& tensors = tensors_of[shard];
    for (const Tensor& tensor : checkpoint.files_.back().tensors()) {
      tensors.emplace(tensor.name, &tensor);
    }
  }
  for (const auto& [name, shard] : shards) {
    const auto& tensors = tensors_of[shard];
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      return Error(
          ErrorKind::Parse,
          "weight_map: tensor " + schema::shown(Node::string(name)) + " is not in " + shard,
          Position{path.string()});
    }
    checkpoint.by_name_.emplace(name, found->second);
  }
  return checkpoint;
}

Result<std::vector<std::string>> missing_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kSingleFile, ignored)) return std::vector<std::string>();
  if (!std::filesystem::exists(folder / kIndexFile, ignored)) {
    return std::vector{std::string(kSingleFile)};
  }
  std::set<std::string> shards;
  for (const auto& [name, shard] : PL_TRY(read_index(folder))) shards.insert(shard);
  std::erase_if(shards, [&](const std::string& shard) {
    return std::filesystem::exists(folder / shard, ignored);
  });
  return std::vector<std::string>(shards.begin(), shards.end());
}

const Tensor* Checkpoint::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::uint64_t Checkpoint::byte_count() const {
  std::uint64_t total = 0;
  for (const auto& [name, tensor] : by_name_) total += tensor->bytes.size();
  return total;
}

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
