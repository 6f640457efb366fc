#include "serve/internal/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "run/names/artifact_names.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;

/// Opens a file below a folder without following any link. An Error of kind NotFound.
Result<FileDescriptor> open_below(const fs::path& folder, const fs::path& below) {
  const Error none(ErrorKind::NotFound, "the run has no file '" + below.string() + "'");
  FileDescriptor at = open_descriptor(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  for (auto part = below.begin(); at.is_open() && part != below.end(); ++part) {
    const bool is_last = std::next(part) == below.end();
    // A pipe would wait for a writer.
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (is_last ? 0 : O_DIRECTORY);
    at = open_descriptor_at(at.get(), part->c_str(), flags);
  }
  if (!at.is_open()) return none;
  return at;
}

}  // namespace

std::vector<FoundFile> files_below(const fs::path& folder, std::size_t most,
                                   const ChooseFile& is_chosen) {
  std::vector<FoundFile> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;
    if (files.size() == most) break;
    if (at->is_symlink(gone) || !at->is_regular_file(gone)) continue;
    std::string path = at->path().lexically_relative(folder).generic_string();
    if (!is_chosen(path)) continue;
    const std::uint64_t size = at->file_size(gone);
    if (!gone) files.push_back({std::move(path), size});
  }
  std::sort(files.begin(), files.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
  return files;
}

Result<FileBody> file_below(const fs::path& folder, const std::string& below) {
  FileBody body{PL_TRY(open_below(folder, below)), 0};
  struct stat facts {};
  if (::fstat(body.file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error(ErrorKind::NotFound, "the run has no file '" + below + "'");
  }
  body.size = static_cast<std::uint64_t>(facts.st_size);
  return body;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_trace(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const bool is_of_process = name.starts_with("trace-") || name.starts_with("kineto_");
  return ends_with_any(name, {".perfetto-trace", ".pftrace", ".trace.json", ".trace.json.gz"}) ||
         name == run::files::kTrace || name == run::files::kCompressedTrace ||
         (is_of_process && ends_with_any(name, {".json", ".json.gz"}));
}

bool is_capture(const std::string& path) {
  const bool is_json = ends_with_any(path, {".json", ".json.gz"});
  return path.ends_with(".sqlite") || (is_json && is_trace(path));
}

}  // namespace profline::serve
