#include "kernel_lab/internal/lab_folder.h"

#include "base/atomic_file.h"
#include "base/files.h"
#include "base/strings.h"

namespace profline::kernel_lab::internal {
namespace {

namespace fs = std::filesystem;

Result<void> check_same_command(const LabRequest& request, const fs::path& file) {
  const auto text = read_file(file);
  if (!text) {
    if (text.error().kind() == ErrorKind::NotFound) return {};
    return text.error();
  }
  const auto before = parse_command_file(*text, file.string());
  const std::vector<std::string> changes =
      before ? differences(*before, request.command)
             : std::vector<std::string>{"its command.yaml is of another program"};
  if (changes.empty()) return {};
  return Error(ErrorKind::Config, request.folder.string() + " holds captures of another command (" +
                                      join(changes, "; ") +
                                      "); name another --output-dir, or replace them with "
                                      "--force-overwrite");
}

}  // namespace

Result<void> take_folder(const LabRequest& request) {
  const fs::path file = request.folder / kCommandFile;
  if (!request.force_overwrite) PL_TRY(check_same_command(request, file));
  PL_TRY(create_folders(request.folder));
  return write_private_file(file, to_yaml(request.command));
}

std::optional<CaptureRecord> finished_before(const LabRequest& request, const WantedKernel& kernel,
                                             const std::string& folder) {
  if (request.force_overwrite) return std::nullopt;
  const fs::path file = request.folder / folder / kCaptureFile;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  auto record = from_document<CaptureRecord>(*text, file.string());
  const bool is_it = record && record->state == CaptureState::Ok && record->regex == kernel.regex;
  return is_it ? std::optional(*std::move(record)) : std::nullopt;
}

Result<void> write_record(const LabRequest& request, const CaptureRecord& record) {
  const fs::path folder = request.folder / record.folder;
  PL_TRY(create_folders(folder));
  return write_private_file(folder / kCaptureFile, PL_TRY(to_document(record)));
}

}  // namespace profline::kernel_lab::internal
