#include "base/log.h"

#include <errno.h>
#include <fcntl.h>

#include <optional>

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include "base/error.h"
#include "base/files.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

/// Replaces spdlog's own file sink, which leaves its file open in the programs we start and hides
/// errno.
class DescriptorSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit DescriptorSink(FileDescriptor file) : file_(std::move(file)) {}

  /// errno of the first line that was lost; 0: every line was written.
  int first_failure() const { return first_failure_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    base_sink::formatter_->format(message, line);
    const int failed = write_all(file_.get(), {line.data(), line.size()});
    if (first_failure_ == 0) first_failure_ = failed;
  }
  void flush_() override {}  // nothing is held back

 private:
  FileDescriptor file_;
  int first_failure_ = 0;
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

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
  const Clock& clock;
  std::shared_ptr<DescriptorSink> sink;  // shared: what spdlog's loggers take
  spdlog::logger logger;
  Redactor redactor;
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
  auto sink = std::make_shared<DescriptorSink>(std::move(opened));
  sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc, "\n"));
  auto file = std::make_shared<File>(
      File{path, clock, sink, spdlog::logger("", sink), std::move(redactor)});
  file->logger.set_level(spdlog_level(least));
  return Log(std::move(file), {});
}

Log Log::null() {
  return Log(nullptr, {});
}

Log Log::with_context(std::string_view context) const {
  return Log(file_, context_ + printable(context) + ": ");
}

void Log::write(LogLevel level, std::string_view text) const {
  if (!file_ || !file_->logger.should_log(spdlog_level(level))) return;
  std::string line(level_column(level));
  line += context_;
  line += printable(file_->redactor.text(text));
  file_->logger.log(file_->clock.wall_now(), spdlog::source_loc{}, spdlog_level(level), line);
}

Result<void> Log::health() const {
  if (!file_ || file_->sink->first_failure() == 0) return {};
  return os_error("write the log", file_->path, file_->sink->first_failure());
}

}  // namespace profline
