#include "stages/nsys/internal/captures.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "records/range_use.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "tools/nsys/commands.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBase = "run";

/// 0 for `run.nsys-rep`, 2 for `run.2.nsys-rep`; nothing for a file that is not a report.
std::optional<unsigned> report_number(const fs::path& file) {
  const bool is_report = file.extension() == ".nsys-rep" || file.extension() == ".qdrep";
  const std::string stem = file.stem().string();
  if (!is_report || !stem.starts_with(kBase)) return std::nullopt;
  if (stem == kBase) return 0;
  if (stem[kBase.size()] != '.') return std::nullopt;
  unsigned number = 0;
  const char* end = stem.data() + stem.size();
  const auto [rest, status] = std::from_chars(stem.data() + kBase.size() + 1, end, number);
  if (status != std::errc() || rest != end || number == 0) return std::nullopt;
  return number;
}

NsysReport report_at(const NsysSession& session, const fs::path& file, unsigned number) {
  const std::string suffix = number == 0 ? "" : "." + std::to_string(number);
  NsysReport report;
  report.name = session.name + suffix;
  report.report = file;
  report.sqlite = session.folder / run::with_suffix(run::files::kNsysSqlite, suffix);
  report.summary = session.folder / run::with_suffix(run::files::kNsysKernelSummary, suffix, '_');
  return report;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string within_stage(const pipeline::RunSetup& setup, const fs::path& file) {
  return file.lexically_relative(setup.folder / run::stages::kNsys).string();
}

std::vector<NsysSession> nsys_sessions(const pipeline::RunSetup& setup) {
  const std::string rank = setup.rank ? "rank-" + std::to_string(*setup.rank) : "";
  const fs::path stage = setup.stage_folder(run::stages::kNsys);
  const std::vector<std::string> ranges = nsys::gated_ranges(setup.settings.pipeline.nsys);
  if (ranges.size() < 2) {
    return {{.range = ranges.empty() ? "" : ranges.front(),
             .name = std::string(kBase),
             .folder = stage,
             .id = nsys::session_name(setup.folder, rank)}};
  }
  std::vector<NsysSession> sessions;
  for (const std::string& range : ranges) {
    const std::string plain = folder_name(range);
    std::string name = plain;
    const auto is_taken = [&](const NsysSession& session) { return session.name == name; };
    for (int n = 2; std::any_of(sessions.begin(), sessions.end(), is_taken); ++n) {
      name = plain + "-" + std::to_string(n);
    }
    sessions.push_back(
        {.range = range,
         .name = name,
         .folder = stage / name,
         .id = nsys::session_name(setup.folder, rank.empty() ? name : name + "-" + rank)});
  }
  return sessions;
}

std::vector<NsysReport> nsys_reports(const NsysSession& session) {
  std::vector<std::pair<unsigned, fs::path>> found;
  for (const fs::path& file : files_in(session.folder)) {
    if (const auto number = report_number(file)) found.emplace_back(*number, file);
  }
  std::sort(found.begin(), found.end());
  std::vector<NsysReport> reports;
  reports.reserve(found.size());
  for (const auto& [number, file] : found) reports.push_back(report_at(session, file, number));
  return reports;
}

NsysReport expected_report(const NsysSession& session, bool repeats) {
  const std::string file = run::with_suffix(run::files::kNsysReport, repeats ? ".1" : "");
  return report_at(session, session.folder / file, repeats ? 1 : 0);
}

bool repeats(const settings::Nsys& nsys) {
  using Action = settings::CaptureRangeEnd::Action;
  if (nsys::effective_range(nsys) == settings::CaptureRange::None || !nsys.capture_range_end) {
    return false;
  }
  return nsys.capture_range_end->action == Action::Repeat ||
         nsys.capture_range_end->action == Action::RepeatShutdown;
}

std::vector<fs::path> unimported_captures(const NsysSession& session) {
  std::vector<fs::path> captures = files_in(session.folder);
  std::erase_if(captures, [](const fs::path& file) { return file.extension() != ".qdstrm"; });
  return captures;
}

nsys::Installation nsys_of(const pipeline::Toolbox& tools) {
  if (tools.nsys && *tools.nsys) return **tools.nsys;
  return {"nsys", {}};
}

}  // namespace profline::stages::internal
