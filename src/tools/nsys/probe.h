#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/tool_version.h"

namespace profline::nsys {

/// nsys' messages during a capture, as far as they matter. Its exit code means little: it is that
/// of the program, even if nothing was captured.
struct Messages {
  std::uint32_t ranges_started = 0;  ///< `Capture range started in the application.`
  std::uint32_t ranges_ended = 0;
  bool finished = false;                         ///< it printed its list of `Generated:` files
  std::vector<std::filesystem::path> generated;  ///< the files in that list
  // Its own words.
  std::string importer_problem;  ///< no report, only a .qdstrm: `Importer error status: …`
  std::string importer_reason;   ///< the importer's own message about a failed import
  std::string create_problem;    ///< the report is elsewhere, or missing
  std::string usage_problem;     ///< it rejected its options
  std::string program_problem;   ///< it did not find the program
  bool agent_lost = false;
  bool session_in_use = false;  ///< another session has its name, perhaps one about to end
  bool disk_full = false;
  std::vector<std::string> errors;  ///< other lines that begin with ERROR
};

/// Whether the importer did not even start: it was not found, or lacks a library.
bool importer_was_not_found(const Messages& messages);

/// Reads the output of a run of `nsys profile`, which includes the program's own lines.
Messages read_messages(std::string_view log);

/// An nsys that reported its version.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
  // Found by survey(); empty if it was not asked or did not answer.
  std::vector<std::string> reports{};         ///< of `nsys stats`: `cuda_gpu_kern_sum`
  std::vector<std::string> options{};         ///< of `nsys profile`: `--trace`
  std::filesystem::path importer{};           ///< converts a capture into a report
  std::vector<std::string> importer_lacks{};  ///< shared libraries that it cannot find

  /// Whether `nsys profile` has this option; also true if it was not asked.
  bool takes(std::string_view option) const;
  /// This release's name for the summary of kernels; the current one if the release is unknown.
  std::string kernel_summary_report() const;
};

/// Finds nsys: on PATH, or inside the Nsight Compute whose ncu is on PATH, which bundles one. An
/// Error of kind NotFound if it is in neither place. That ncu may be a script that does not reveal
/// the location of the real one; then it is run to find out.
Result<std::filesystem::path> find_nsys(ProcessRunner& runner, std::string_view path_text);

/// The given nsys, or for plain `nsys` the one that find_nsys() finds with our own PATH.
Result<std::filesystem::path> choose_nsys(ProcessRunner& runner, const std::string& name);

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

/// The same, and what this release supports: three more queries, a quarter of a second. Unanswered
/// queries leave their field empty.
Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program);

/// The result of a trial capture.
struct Trial {
  int attempts = 0;              ///< more than 1 if the first left nothing at all
  bool report_written = false;   ///< a .nsys-rep: nsys works end to end
  bool left_unimported = false;  ///< only a .qdstrm: its importer is missing, or it failed
  std::vector<std::string> importer_lacks;  ///< shared libraries the importer did not find
  std::filesystem::path importer;           ///< empty if none was found next to nsys
  std::string importer_said;                ///< why its importer failed, in the importer's words
  std::string output;                       ///< the last lines nsys printed
  std::string reading_problem;  ///< nsys' complaint about its own report; see try_reading()
};

/// Profiles /bin/true in `folder`, which must exist; up to three times while that leaves nothing.
/// nsys exits with 0 whether or not it could write a report, so only the files count.
Result<Trial> try_capture(ProcessRunner& runner, const Installation& nsys,
                          const std::filesystem::path& folder);

/// Why a trial capture wrote no report, as the end of a sentence about nsys: "captures, but its
/// importer failed: …". Empty if it wrote one.
std::string trial_problem(const Trial& trial);

/// Exports the report of a trial in `folder` and requests a summary of it. Returns nsys' error
/// message, or an empty text: parts of nsys can be missing although it captures.
Result<std::string> try_reading(ProcessRunner& runner, const Installation& nsys,
                                const std::filesystem::path& folder);

/// The importer that belongs to an nsys: Debian, NVIDIA's own packages and the copy bundled with
/// Nsight Compute each have it elsewhere. Empty if it is in none of these places.
std::filesystem::path find_importer(const std::filesystem::path& program);

/// What to try if the importer starts but fails. It reads /sys, which containers may lack.
std::string importer_fix();

/// The libraries that the output of `ldd` marks as not found.
std::vector<std::string> missing_libraries(std::string_view ldd_output);

/// The names in the output of `nsys stats --help-reports`.
std::vector<std::string> report_names(std::string_view help);

/// The long options in the output of `nsys profile --help`.
std::vector<std::string> option_names(std::string_view help);

}  // namespace profline::nsys
