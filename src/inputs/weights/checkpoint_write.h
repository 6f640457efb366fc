#pragma once

#include <filesystem>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"
#include "inputs/weights/dtype.h"
#include "records/deepseek_ocr_config.h"

namespace profline::weights {

/// The release's name for its only shard.
constexpr std::string_view kOnlyShard = "model-00001-of-000001.safetensors";

/// Writes a model of deterministic values (deterministic.h) as the release is laid out: one shard,
/// its index and, last, config.json. `dtype` is F32 or BF16; both hold the same numbers.
///
/// The folder is made where it is missing and must not hold a checkpoint yet. Memory stays at a few
/// MiB whatever the model's size; a disk without room for it is an Error before anything is
/// written.
Result<void> write_checkpoint(const std::filesystem::path& folder, DeepseekOcrConfig config,
                              Dtype dtype, Progress& progress);

}  // namespace profline::weights
