#pragma once

#include <filesystem>

namespace profline::testing {

/// The project's root, and the build folder of this test.
std::filesystem::path source_dir();
std::filesystem::path binary_dir();

/// Files next to the project for its developers and CI (`../shared`); may not exist.
std::filesystem::path shared_dir();

}  // namespace profline::testing
