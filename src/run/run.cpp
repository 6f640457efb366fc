#include "run/run.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/redaction.h"
#include "formats/json.h"
#include "records/run_record.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::run {
namespace {

namespace fs = std::filesystem;

Result<Requests> read_requests_file(const Run&, const fs::path& file) {
  return parse_requests(PL_TRY(read_file(file)), file.string());
}

Result<Timeline> read_sqlite(const Run&, const fs::path& file) {
  return nsys::read_sqlite(file);
}

std::string capture_file(const std::string& sqlite) {
  return (fs::path(stages::kNsys) / sqlite).string();
}

fs::path real_path(const fs::path& folder) {
  std::error_code failure;
  fs::path found = fs::weakly_canonical(folder, failure);
  return failure ? folder : found;
}

}  // namespace

Result<Run> Run::open(fs::path folder) {
  RunRecord record = PL_TRY(read_record(folder));
  return with_record(std::move(folder), std::move(record));
}

Run Run::with_record(fs::path folder, RunRecord record) {
  return Run(std::move(folder), redacted(std::move(record), Redactor()));
}

void Run::set_record(RunRecord record) {
  record_ = redacted(std::move(record), Redactor());
}

bool Run::has(std::string_view file) const {
  std::error_code ignored;
  return !folder_.empty() && fs::exists(folder_ / file, ignored);
}

bool Run::has_folder(const fs::path& name) const {
  std::error_code ignored;
  return !folder_.empty() && fs::is_directory(folder_ / name, ignored);
}

std::vector<std::string> Run::folders_in(const fs::path& name) const {
  std::vector<std::string> found;
  if (folder_.empty()) return found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ / name, ignored)) {
    if (entry.is_directory(ignored)) found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::map<std::int64_t, std::string> Run::rank_files(std::string_view stage,
                                                    std::string_view name) const {
  std::map<std::int64_t, std::string> files;
  const fs::path ranks = fs::path(stage) / folders::kRanks;
  for (const std::string& folder : folders_in(ranks)) {
    std::int64_t rank = 0;
    const auto [end, failure] = std::from_chars(folder.data(), folder.data() + folder.size(), rank);
    if (failure != std::errc() || end != folder.data() + folder.size() || rank < 0) continue;
    std::vector<fs::path> places = {ranks / folder};
    for (const std::string& capture : folders_in(ranks / folder)) {
      places.push_back(ranks / folder / capture);
    }
    const auto place = std::find_if(places.begin(), places.end(), [&](const fs::path& one) {
      return has((one / name).string());
    });
    if (place != places.end()) files[rank] = (*place / name).string();
  }
  return files;
}

std::string Run::without_folder(std::string message) const {
  const std::string prefix = (folder_ / "").string();
  for (std::size_t at = message.find(prefix); at != std::string::npos;
       at = message.find(prefix, at)) {
    message.erase(at, prefix.size());
  }
  return message.substr(0, message.find('\n'));
}

const Artifact<Requests>& Run::requests(std::string_view below) const {
  const std::string requests = (fs::path(below) / files::kRequests).string();
  const std::string samples = (fs::path(below) / files::kSamples).string();
  return get(ArtifactName<Requests>{requests, read_requests_file, samples});
}

const Artifact<Requests>& Run::baseline() const {
  return requests(stages::kBaseline);
}

std::vector<ProfiledRequests> Run::profiled() const {
  std::vector<ProfiledRequests> all;
  for (const char* stage : {stages::kTorchProfiler, stages::kNsys, stages::kNcu}) {
    const auto add = [&](const fs::path& folder, const std::string& gate) {
      const fs::path workload = folder / folders::kWorkload;
      if (has_folder(workload)) all.push_back({stage, gate, requests(workload.string())});
    };
    add(stage, "");
    for (const std::string& gate : folders_in(stage)) add(fs::path(stage) / gate, gate);
  }
  return all;
}

const Artifact<Timeline>& Run::capture(const std::string& sqlite) const {
  return get(ArtifactName<Timeline>{capture_file(sqlite), read_sqlite});
}

void Run::keep_capture(const std::string& sqlite, Timeline timeline) {
  keep(ArtifactName<Timeline>{capture_file(sqlite), read_sqlite}, std::move(timeline));
}

Artifact<Timeline> Run::read_capture(const std::string& sqlite) const {
  return read(ArtifactName<Timeline>{capture_file(sqlite), read_sqlite});
}

Artifact<Timeline> Run::read_timeline(const std::string& file) const {
  return read(ArtifactName<Timeline>{
      file, file.ends_with(".sqlite") ? read_sqlite : internal::read_torch_trace});
}

Result<const Run*> OpenedRuns::open(const fs::path& folder) {
  if (const Run* known = find(folder)) return known;
  return &runs_.emplace(real_path(folder), PL_TRY(Run::open(folder))).first->second;
}

const Run* OpenedRuns::find(const fs::path& folder) const {
  const auto found = runs_.find(real_path(folder));
  return found == runs_.end() ? nullptr : &found->second;
}

void OpenedRuns::keep(Run run) {
  fs::path folder = real_path(run.folder());
  runs_.emplace(std::move(folder), std::move(run));
}

Result<RunRecord> read_record(const fs::path& folder) {
  const std::string file = (folder / files::kRecord).string();
  return parse_run_record(PL_TRY(read_file(file)), file);
}

Result<Node> read_workload_file(const fs::path& folder, std::string_view name) {
  const fs::path file = folder / name;
  return parse_json(PL_TRY(read_file(file)), file.string());
}

bool holds_run(const fs::path& folder) {
  std::error_code failure;
  return fs::exists(folder / files::kRecord, failure);
}

}  // namespace profline::run
