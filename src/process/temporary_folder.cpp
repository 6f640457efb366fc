#include "process/temporary_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace profline {
namespace {

namespace fs = std::filesystem;

/// The variable that counts, as std::filesystem has it; null: none is set.
const char* variable() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return nullptr;
}

}  // namespace

Result<fs::path> temporary_folder() {
  const char* const name = variable();
  const fs::path folder = name != nullptr ? std::getenv(name) : "/tmp";
  std::error_code failure;
  const bool is_folder = fs::is_directory(folder, failure);
  if (is_folder && ::access(folder.c_str(), W_OK | X_OK) == 0) return folder;
  const std::string subject = name != nullptr ? std::string(name) + " names" : "programs need";
  const std::string why =
      is_folder ? "a folder that cannot be written to" : "which is not a folder";
  return Error(ErrorKind::NotFound, subject + " '" + folder.string() + "', " + why +
                                        "; set TMPDIR to one for temporary files, as in "
                                        "TMPDIR=/tmp")
      .with_reason("no_temporary_folder");
}

}  // namespace profline
