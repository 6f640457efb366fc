#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/dataset/dataset.h"
#include "workload/session/run_request.h"

namespace profline::workload {

/// What is run, and what is missing from the dataset.
struct Inputs {
  std::vector<dataset::Item> items;
  std::vector<std::string> notes;
};

/// The sampled images of the settings, cut to the request's `samples`.
Result<Inputs> choose_inputs(const RunRequest& request);

/// How a request was computed, besides its input.
struct Means {
  std::string dtype;
  std::uint32_t threads = 0;  ///< of libtorch on the CPU
  std::string engine;
};
/// Describes a request: its picture and how it was computed.
std::map<std::string, Node> attributes_of(const dataset::Item& item, const Means& means);

/// inputs.json, `profline.inputs/1`: each image once, with its bytes, digest and size. Images that
/// can no longer be read say why.
Node inputs_document(const std::string& dataset, const std::vector<dataset::Item>& items);

}  // namespace profline::workload
