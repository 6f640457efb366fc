#include "web/page_source.h"

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/node_redaction.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::web {
namespace {

using summary::Artifact;

template <typename T, typename Read>
Artifact<T> read(const std::filesystem::path& folder, const std::string& file, const Read& reader) {
  Artifact<T> artifact;
  artifact.file = file;
  std::error_code ignored;
  artifact.is_there = std::filesystem::exists(folder / file, ignored);
  if (!artifact.is_there) {
    artifact.why_not = "is not there";
    return artifact;
  }
  Result<T> content = reader(folder / file);
  if (content) {
    artifact.content = std::move(content).value();
  } else {
    artifact.why_not = content.error().to_string();
  }
  return artifact;
}

/// Without secrets, which runs of older versions hold.
Result<Node> read_json(const std::filesystem::path& path) {
  return redacted(PL_TRY(parse_json(PL_TRY(read_file(path)), path.filename().string())),
                  Redactor());
}

std::optional<double> figure(const Node& line, std::string_view key, double scale) {
  const Node* const value = line.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_int()) return static_cast<double>(value->as_int()) * scale;
  if (value->is_float()) return value->as_float() * scale;
  return std::nullopt;
}

/// The file that shows decode: the capture that decode gated, else one in which it was seen, else
/// the first.
std::string sqlite_of(const NsysRanges& ranges) {
  std::string seen_in;
  for (const NsysRange& range : ranges.ranges) {
    if (range.name == "decode" && seen_in.empty()) seen_in = range.capture;
  }
  const NsysCapture* best = nullptr;
  for (const NsysCapture& capture : ranges.captures) {
    if (capture.range == "decode") return capture.sqlite;
    if (best == nullptr || capture.name == seen_in) best = &capture;
  }
  return best == nullptr ? "" : best->sqlite;
}

Artifact<Timeline> read_capture(const std::filesystem::path& folder,
                                const summary::RunArtifacts& run) {
  Artifact<Timeline> none;
  none.file = run.nsys_ranges.file;
  none.why_not = run.nsys_ranges ? "names no capture" : run.nsys_ranges.why_not;
  if (!run.nsys_ranges) return none;
  const std::string sqlite = sqlite_of(*run.nsys_ranges);
  if (sqlite.empty()) return none;
  return read<Timeline>(folder, "nsys/" + sqlite,
                        [](const auto& path) { return nsys::read_sqlite(path); });
}

}  // namespace

ShownCapture PageSource::shown_capture() const {
  if (capture) return {capture.file, "nsys", &*capture};
  if (run.trace) return {run.trace.file, "torch_profiler", &*run.trace};
  return {};
}

Result<std::vector<GpuReading>> parse_gpu_readings(std::string_view text,
                                                   const std::string& source) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  std::vector<GpuReading> readings;
  std::optional<double> origin_ns;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    auto parsed = parse_json(line, source);
    if (!parsed) {
      return std::move(parsed).error().during("line " + std::to_string(number));
    }
    const std::optional<double> at_ns = figure(*parsed, "at_ns", 1);
    if (!at_ns) {
      return Error(ErrorKind::Parse,
                   source + ": line " + std::to_string(number) + ": no number 'at_ns'");
    }
    if (!origin_ns) origin_ns = at_ns;
    GpuReading reading;
    reading.at_s = (*at_ns - *origin_ns) * 1e-9;
    reading.sm_clock_mhz = figure(*parsed, "sm_clock_mhz", 1);
    reading.memory_clock_mhz = figure(*parsed, "memory_clock_mhz", 1);
    reading.power_w = figure(*parsed, "power_mw", 1e-3);
    reading.temperature_c = figure(*parsed, "temperature_c", 1);
    reading.utilisation_pct = figure(*parsed, "gpu_utilisation_pct", 1);
    reading.memory_gib = figure(*parsed, "memory_used_bytes", 1 / kGiB);
    reading.throttle_reasons =
        static_cast<std::uint64_t>(figure(*parsed, "throttle_reasons", 1).value_or(0));
    readings.push_back(reading);
  }
  return readings;
}

Result<PageSource> read_page_source(const summary::RunArtifacts& run) {
  PageSource source{run, {}, {}, {}, {}, {}, {}};
  const std::filesystem::path& folder = run.folder;
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "summary.json", ignored)) {
    return Error(ErrorKind::NotFound, "run " + run.run.id +
                                          " has no summary.json; 'profline report " +
                                          folder.string() + "' writes it");
  }
  const std::string summary = PL_TRY(read_file(folder / "summary.json"));
  source.summary = PL_TRY(from_document<RunSummary>(summary, (folder / "summary.json").string()));
  source.environment = read<Node>(folder, "env.json", read_json);
  source.config = read<Node>(folder, "config.resolved.json", read_json);
  source.origins = read<Node>(folder, "config.origins.json", read_json);
  source.gpu = read<std::vector<GpuReading>>(
      folder, "baseline/gpu.jsonl",
      [](const std::filesystem::path& path) -> Result<std::vector<GpuReading>> {
        return parse_gpu_readings(PL_TRY(read_file(path)), path.filename().string());
      });
  source.capture = read_capture(folder, run);
  return source;
}

}  // namespace profline::web
