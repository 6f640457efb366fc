#include "pipeline/run_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "formats/json_write.h"

namespace profline::pipeline {
namespace {

constexpr off_t kReserveBytes = off_t{512} * 1024;

}  // namespace

RunJournal::RunJournal(std::filesystem::path folder, RunRecord record)
    : folder_(std::move(folder)), record_(std::move(record)) {
  const FileDescriptor file =
      open_descriptor(reserve().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // Where space cannot be held back, a full disk may cost the last state and nothing else.
  if (file.is_open()) static_cast<void>(::posix_fallocate(file.get(), 0, kReserveBytes));
}

RunJournal::~RunJournal() {
  ::unlink(reserve().c_str());
}

Result<void> RunJournal::save() {
  return write("run.json", PL_TRY(write_json(to_node(record_))));
}

void RunJournal::defer(std::filesystem::path name, std::string bytes) {
  deferred_.push_back({std::move(name), std::move(bytes)});
}

Result<void> RunJournal::write_deferred() {
  for (const Deferred& file : std::exchange(deferred_, {})) PL_TRY(write(file.name, file.bytes));
  return {};
}

Result<void> RunJournal::write(const std::filesystem::path& name, std::string_view bytes) {
  auto written = write_file_atomic(folder_ / name, bytes);
  if (written || ::unlink(reserve().c_str()) != 0) return written;
  return write_file_atomic(folder_ / name, bytes);
}

}  // namespace profline::pipeline
