#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/dataset/dataset.h"
#include "workload/session/run_request.h"

namespace profline::workload {

/// What is run, and what of the dataset is missing.
struct Inputs {
  std::vector<dataset::Item> items;
  std::vector<std::string> notes;
};

/// The sampled images of the settings, cut to the request's `samples`.
Result<Inputs> choose_inputs(const RunRequest& request);

/// inputs.json, `profline.inputs/1`: each image once, with its bytes, digest and size. Images that
/// cannot be read any more say why.
Node inputs_document(const std::string& dataset, const std::vector<dataset::Item>& items);

}  // namespace profline::workload
