#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "inputs/weights/safetensors.h"
#include "records/deepseek_ocr_config.h"

namespace profline::weights {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

/// The tensors of a model, from one or several files; mapped, so read when they are accessed.
class Checkpoint {
 public:
  /// `model.safetensors` of the folder or, without one, the shards in
  /// `model.safetensors.index.json` (the order that transformers uses). An index must name plain
  /// files of its own folder, and each tensor must be in the shard that the index says.
  static Result<Checkpoint> open(const std::filesystem::path& folder);
  /// One safetensors file of any name.
  static Result<Checkpoint> open_file(const std::filesystem::path& path);

  /// A null pointer if there is no tensor of this name.
  const Tensor* find(std::string_view name) const;
  /// Sorted by name.
  const std::map<std::string, const Tensor*, std::less<>>& tensors() const { return by_name_; }
  /// The single file or the index that was opened, for messages.
  const std::filesystem::path& source() const { return source_; }
  std::uint64_t byte_count() const;

 private:
  explicit Checkpoint(std::filesystem::path source) : source_(std::move(source)) {}
  static Result<Checkpoint> open_index(const std::filesystem::path& folder);

  std::filesystem::path source_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, const Tensor*, std::less<>> by_name_;
};

/// The files of weights that Checkpoint::open would miss in the folder, by name: the single file
/// (if there is no index either), or those in the index. Empty if all exist. An Error for an
/// unreadable index.
Result<std::vector<std::string>> missing_files(const std::filesystem::path& folder);

/// The release's name for its only shard.
constexpr std::string_view kOnlyShard = "model-00001-of-000001.safetensors";

/// Writes a model of deterministic values (model_tensors.h) in the layout of the release: one
/// shard, its index and, last, config.json. `dtype` is F32 or BF16; both hold the same numbers.
///
/// The folder is created if it is missing and must not contain a checkpoint yet. Memory use stays
/// at a few MiB whatever the model's size; insufficient disk space is an Error before anything is
/// written.
Result<void> write_checkpoint(const std::filesystem::path& folder, DeepseekOcrConfig config,
                              Dtype dtype, Progress& progress);

}  // namespace profline::weights
