#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/tool_version.h"

namespace profline::nsys {

/// An nsys that answered to its name.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
};

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

/// What a trial capture showed.
struct Trial {
  int attempts = 0;              ///< 2 when the first left nothing at all
  bool report_written = false;   ///< a .nsys-rep: nsys works from end to end
  bool left_unimported = false;  ///< only a .qdstrm: its importer is missing or lacks a library
  std::vector<std::string> importer_lacks;  ///< shared libraries the importer did not find
  std::filesystem::path importer;           ///< empty when none was found beside nsys
  std::string output;                       ///< the last lines nsys printed
};

/// Profiles /bin/true in `folder`, which must exist; once more if that leaves nothing. nsys exits
/// with 0 whether or not it could write a report, so the files are what counts.
Result<Trial> try_capture(ProcessRunner& runner, const Installation& nsys,
                          const std::filesystem::path& folder);

/// The importer that belongs to an nsys: Debian, NVIDIA's own packages and the copy bundled with
/// Nsight Compute each keep it elsewhere. Empty when it is in none of these places.
std::filesystem::path find_importer(const std::filesystem::path& program);

/// The libraries that the output of `ldd` marks as not found.
std::vector<std::string> missing_libraries(std::string_view ldd_output);

}  // namespace profline::nsys
