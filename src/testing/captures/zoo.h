#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

/// Captures of one program by several tools (tests/gpu/kernel_zoo.cpp), below tests/golden/zoo.
namespace profline::testing {

/// `kineto.json.gz`, `ncu.csv.gz`, `nsys-node.sqlite.gz`, `nsys-graph.sqlite.gz`
std::filesystem::path zoo_capture(const std::string& name);

/// The decompressed content of a gzip file.
Result<std::string> unzipped(const std::filesystem::path& path);

}  // namespace profline::testing
