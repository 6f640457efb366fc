#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline::nsys {

/// What nsys said while it captured, as far as anything follows from it. Its exit code says little:
/// it is the program's, also when nothing was captured.
struct Messages {
  std::uint32_t ranges_started = 0;  ///< `Capture range started in the application.`
  std::uint32_t ranges_ended = 0;
  bool finished = false;                         ///< it came to its list of `Generated:` files
  std::vector<std::filesystem::path> generated;  ///< what that list names
  // Its own words.
  std::string importer_problem;  ///< no report, only a .qdstrm: `Importer error status: …`
  std::string importer_reason;   ///< what its importer itself said, of an import that failed
  std::string create_problem;    ///< the report is elsewhere, or nowhere
  std::string usage_problem;     ///< it did not take its options
  std::string program_problem;   ///< it did not find the program
  bool agent_lost = false;
  bool session_in_use = false;  ///< another one has its name, perhaps one that is just ending
  bool disk_full = false;
  std::vector<std::string> errors;  ///< other lines that begin with ERROR
};

/// True where the importer did not even start: it was not found, or lacks a library.
bool importer_was_not_found(const Messages& messages);

/// Reads what a run of `nsys profile` printed, the program's own lines among them.
Messages read_messages(std::string_view log);

}  // namespace profline::nsys
