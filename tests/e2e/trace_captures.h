#pragma once

#include <string>

#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/paths.h"

/// Shared by tests of `profline trace`.
namespace profline::e2e {

/// A trace that libtorch 2.11 wrote on an H200.
inline std::string h200_trace() {
  return (profline::testing::source_dir() / "tests/golden/trace/kineto-torch-2.11-h200.json.gz")
      .string();
}

/// The printed document, or a test failure.
inline Node parsed(const std::string& text) {
  auto document = parse_json(text, "trace");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? std::move(*document) : Node();
}

}  // namespace profline::e2e
