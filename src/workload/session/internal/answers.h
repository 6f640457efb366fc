#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inputs/dataset/dataset.h"
#include "records/request.h"
#include "settings/stage.h"
#include "workload/session/internal/subject.h"

namespace profline::workload {

/// An image with the text read from it.
struct ReadText {
  dataset::Item item;
  Request request;
  std::string text;
};

/// texts.jsonl: image, epoch, index and text of each run, in the order of requests.jsonl.
std::string texts_jsonl(std::span<const ReadText> texts);

/// Finds the texts of these items in a baseline's folder; items without one are left out.
Result<std::vector<ReadText>> load_texts(const std::filesystem::path& folder,
                                         std::span<const dataset::Item> items);

/// Writes what the output settings request below `folder`: predictions.jsonl, and pictures of the
/// first images. Returns the files and folders that now exist.
Result<std::vector<std::filesystem::path>> write_answers(const std::filesystem::path& folder,
                                                         const settings::Output& output,
                                                         const Subject& subject,
                                                         std::span<const ReadText> texts,
                                                         Progress& progress);

}  // namespace profline::workload
