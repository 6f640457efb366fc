#include "tools/nsys/probe.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "process/ask.h"

namespace profline::nsys {
namespace {

constexpr std::chrono::seconds kCaptureLimit{60};
constexpr int kAttempts = 2;  // on a busy machine nsys loses its agent now and then
constexpr std::string_view kImporter = "QdstrmImporter";

bool has_file_ending_in(const std::filesystem::path& folder, std::string_view suffix) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == suffix) return true;
  }
  return false;
}

}  // namespace

Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program) {
  const std::string answer = PL_TRY(output_of(runner, {program.string(), "--version"}));
  const auto version = find_version(answer, "version");
  if (!version) {
    return Error(ErrorKind::Tool,
                 program.string() + " --version names no version: " + std::string(trim(answer)));
  }
  return Installation{program, *version};
}

Result<Trial> try_capture(ProcessRunner& runner, const Installation& nsys,
                          const std::filesystem::path& folder) {
  // Sampling is off because nsys 2022.4 can hang with it; the session is named after the folder so
  // that two trials at a time do not meet.
  Command command{.argv = {nsys.program.string(), "profile", "--trace=none", "--sample=none",
                           "--cpuctxsw=none", "--force-overwrite=true",
                           "--session-new=" + folder.filename().string(),
                           "--output=" + (folder / "trial").string(), "/bin/true"}};
  command.env["TMPDIR"] = folder.string();  // its intermediates are megabytes
  command.timeout = kCaptureLimit;
  Trial trial;
  do {
    ++trial.attempts;
    const Exit exit = PL_TRY(runner.run(command));
    trial.output = std::string(trim(exit.tail));
    trial.report_written = has_file_ending_in(folder, ".nsys-rep");
    trial.left_unimported = !trial.report_written && has_file_ending_in(folder, ".qdstrm");
  } while (!trial.report_written && !trial.left_unimported && trial.attempts < kAttempts);
  if (trial.report_written) return trial;
  trial.importer = find_importer(nsys.program);
  if (!trial.importer.empty()) {
    const Exit ldd = PL_TRY(runner.run({.argv = {"ldd", trial.importer.string()}}));
    trial.importer_lacks = missing_libraries(ldd.tail);
  }
  return trial;
}

std::filesystem::path find_importer(const std::filesystem::path& program) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(program, failure);
  if (failure) return {};
  const std::filesystem::path top = real.parent_path().parent_path();
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(top, failure)) {
    const std::string name = entry.path().filename().string();
    // host-linux-x64 in packages of nsys, linux-desktop-glibc_2_11_3-x64 in the bundled copy.
    const bool host = name.starts_with("host-linux") || name.starts_with("linux-desktop");
    if (host && std::filesystem::exists(entry.path() / kImporter, failure)) {
      found.push_back(entry.path() / kImporter);
    }
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? std::filesystem::path() : found.front();
}

std::vector<std::string> missing_libraries(std::string_view ldd_output) {
  //	libssh.so.4 => not found
  std::vector<std::string> names;
  for (const std::string_view line : lines(ldd_output)) {
    const std::size_t arrow = line.find("=> not found");
    if (arrow == std::string_view::npos) continue;
    std::string name(trim(line.substr(0, arrow)));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace profline::nsys
