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

/// An nsys that answered to its name.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
  // What survey() found out; empty: not asked, or it did not say.
  std::vector<std::string> reports{};         ///< of `nsys stats`: `cuda_gpu_kern_sum`
  std::vector<std::string> options{};         ///< of `nsys profile`: `--trace`
  std::filesystem::path importer{};           ///< what turns a capture into a report
  std::vector<std::string> importer_lacks{};  ///< shared libraries it does not find

  /// Whether `nsys profile` takes this option; true also when it was not asked.
  bool takes(std::string_view option) const;
  /// The name this release has for the summary of kernels; today's when the release is unknown.
  std::string kernel_summary_report() const;
};

/// Where nsys is: on PATH, or inside the Nsight Compute whose ncu is on PATH, which bundles one. An
/// Error of kind NotFound when it is in neither place. That ncu may be a script which says nothing
/// of where its own is; then it is run to see.
Result<std::filesystem::path> find_nsys(ProcessRunner& runner, std::string_view path_text);

/// The nsys that was named, or for plain `nsys` the one found so with our own PATH.
Result<std::filesystem::path> choose_nsys(ProcessRunner& runner, const std::string& name);

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

/// The same, and what this release can do: three more questions, a quarter of a second. What they
/// leave open stays empty.
Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program);

/// What a trial capture showed.
struct Trial {
  int attempts = 0;              ///< more than 1 when the first left nothing at all
  bool report_written = false;   ///< a .nsys-rep: nsys works from end to end
  bool left_unimported = false;  ///< only a .qdstrm: its importer is missing, or it failed
  std::vector<std::string> importer_lacks;  ///< shared libraries the importer did not find
  std::filesystem::path importer;           ///< empty when none was found beside nsys
  std::string importer_said;                ///< why its importer failed, in the importer's words
  std::string output;                       ///< the last lines nsys printed
  std::string reading_problem;              ///< what nsys says of its own report; see try_reading()
};

/// Profiles /bin/true in `folder`, which must exist; up to three times while that leaves nothing.
/// nsys exits with 0 whether or not it could write a report, so the files are what counts.
Result<Trial> try_capture(ProcessRunner& runner, const Installation& nsys,
                          const std::filesystem::path& folder);

/// Why a trial capture wrote no report, as the end of a sentence about nsys: "captures, but its
/// importer failed: …". Empty when it wrote one.
std::string trial_problem(const Trial& trial);

/// Exports the report of a trial in `folder` and asks for a summary of it. What nsys said went
/// wrong; empty when nothing did: parts of it can be missing although it captures.
Result<std::string> try_reading(ProcessRunner& runner, const Installation& nsys,
                                const std::filesystem::path& folder);

/// The importer that belongs to an nsys: Debian, NVIDIA's own packages and the copy bundled with
/// Nsight Compute each keep it elsewhere. Empty when it is in none of these places.
std::filesystem::path find_importer(const std::filesystem::path& program);

/// What to try where the importer starts and fails. It reads /sys, which containers may lack.
std::string importer_fix();

/// The libraries that the output of `ldd` marks as not found.
std::vector<std::string> missing_libraries(std::string_view ldd_output);

/// The names in what `nsys stats --help-reports` prints.
std::vector<std::string> report_names(std::string_view help);

/// The long options in what `nsys profile --help` prints.
std::vector<std::string> option_names(std::string_view help);

}  // namespace profline::nsys
