#include "workload/session/internal/repetition.h"

#include <chrono>

#include "base/files.h"
#include "records/repeated_phase.h"
#include "run/names/artifact_names.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

Result<void> repeat(Subject& subject, const std::filesystem::path& folder,
                    const std::function<bool()>& stopping) {
  // Phases of one request are too short for the energy counters of a GPU.
  constexpr std::chrono::milliseconds kLongEnough{1500};
  RepeatedPhases repeated;
  repeated.phases = PL_TRY(catch_torch(
      [&] { return subject.repeat_phases(subject.requests().front(), kLongEnough, stopping); }));
  if (repeated.phases.empty()) return {};
  return write_file_atomic(folder / run::files::kRepeatedPhases, PL_TRY(to_document(repeated)));
}

}  // namespace

Result<std::optional<std::string>> repeat_phases(Subject& subject,
                                                 const std::filesystem::path& folder,
                                                 const std::function<bool()>& stopping) {
  Result<void> done = repeat(subject, folder, stopping);
  if (done) return std::optional<std::string>();
  if (done.error().kind() == ErrorKind::Cancelled) return std::move(done).error();
  return std::optional("the energy of single phases is not known: repeating them failed: " +
                       done.error().to_string());
}

}  // namespace profline::workload
