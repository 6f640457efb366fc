#include "base/log.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/files.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

std::string_view level_column(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug ";
    case LogLevel::Info:
      return "info  ";
    case LogLevel::Warning:
      return "warn  ";
    case LogLevel::Error:
      return "error ";
  }
  return "info  ";
}

}  // namespace

struct Log::File {
  std::filesystem::path path;
  LogLevel least;
  const Clock& clock;
  FileDescriptor file;
  Redactor redactor;
  int first_failure = 0;  // errno of the first line that was lost; 0: every line was written
};

Log::Log(std::shared_ptr<File> file, std::string context)
    : file_(std::move(file)), context_(std::move(context)) {}

Result<Log> Log::open(const std::filesystem::path& path, LogLevel least, const Clock& clock,
                      Redactor redactor) {
  constexpr std::string_view kAttempt = "write the log";
  PL_TRY(internal::check_path(kAttempt, path));
  FileDescriptor opened =
      open_descriptor(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0600);
  if (!opened.is_open() && errno == ENOENT) {  // the file itself would have been made
    return os_error(kAttempt, path, ErrorKind::NotFound, "its folder does not exist");
  }
  if (!opened.is_open()) return os_error(kAttempt, path, errno);
  return Log(
      std::make_shared<File>(File{path, least, clock, std::move(opened), std::move(redactor)}), {});
}

Log Log::null() {
  return Log(nullptr, {});
}

Log Log::with_context(std::string_view context) const {
  return Log(file_, context_ + printable(context) + ": ");
}

void Log::write(LogLevel level, std::string_view text) const {
  if (!file_ || level < file_->least) return;
  std::string line = utc_timestamp(file_->clock.wall_now());
  line.append(" ").append(level_column(level)).append(context_);
  line += printable(file_->redactor.text(text));
  line += '\n';
  const int failed = write_all(file_->file.get(), line);
  if (file_->first_failure == 0) file_->first_failure = failed;
}

Result<void> Log::health() const {
  if (!file_ || file_->first_failure == 0) return {};
  return os_error("write the log", file_->path, file_->first_failure);
}

}  // namespace profline
