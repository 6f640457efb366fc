#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/response.h"

/// The files of a run. No link is followed: a run is what its folder holds.
namespace profline::serve {

struct FoundFile {
  std::string path;  ///< below the run's folder
  std::uint64_t size = 0;
};

using ChooseFile = std::function<bool(const std::string& path)>;
/// The files that are chosen, sorted by path; at most so many.
std::vector<FoundFile> files_below(const std::filesystem::path& folder, std::size_t most,
                                   const ChooseFile& is_chosen);
/// An Error of kind NotFound if it is not a file of the run.
Result<FileBody> file_below(const std::filesystem::path& folder, const std::string& below);

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings);
/// Whether a file is a trace, by its name: one that Perfetto opens.
bool is_trace(const std::string& path);
/// Whether a file is a capture that a timeline can be drawn of, by its name.
bool is_capture(const std::string& path);

}  // namespace profline::serve
