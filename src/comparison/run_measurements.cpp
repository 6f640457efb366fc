#include "comparison/run_measurements.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/captures/capture_series.h"
#include "analysis/samples/sample_series.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/document.h"
#include "records/nsys_ranges.h"
#include "records/run_record.h"
#include "records/sample.h"
#include "schema/read.h"
#include "statistics/blocks.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace_reader.h"

namespace profline::comparison {
namespace {

namespace fs = std::filesystem;

constexpr double kNsPerUs = 1e3;
/// Launches that follow each other are not independent: means of this many blocks nearly are.
constexpr std::size_t kBlocks = 32;

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

double number(const Node* node) {
  if (node == nullptr) return 0;
  if (node->is_int()) return static_cast<double>(node->as_int());
  return node->is_float() ? node->as_float() : 0;
}

class Reader {
 public:
  Reader(const fs::path& folder, const RunRecord& record) : folder_(folder) {
    found_.run = {
        record.id,      folder.string(), record.experiment, std::string(to_text(record.state)),
        record.started, record.commit,   record.device,     record.host,
        std::nullopt};
  }

  void documents() {
    found_.config = tree("config.resolved.json", parse_json);
    found_.environment = tree("env.json", parse_json);
    found_.inputs = tree("inputs.yaml", parse_yaml);
  }
  void unprofiled();
  void captures();

  RunMeasurements take() && { return std::move(found_); }

 private:
  void note(const Error& error) {
    found_.notes.push_back(found_.run.id + ": " + error.to_string());
  }
  template <typename T>
  std::optional<T> kept(Result<T> result) {
    if (result) return std::move(*result);
    note(result.error());
    return std::nullopt;
  }
  /// The text of a file of the run, if there is one.
  std::optional<std::string> text(const fs::path& name) {
    if (!is_there(folder_ / name)) return std::nullopt;
    return kept(read_file(folder_ / name));
  }
  template <typename Parse>
  std::optional<Node> tree(const fs::path& name, Parse parse) {
    const auto bytes = text(name);
    return bytes ? kept(parse(*bytes, (folder_ / name).string())) : std::nullopt;
  }

  void process();
  void clocks();
  std::vector<fs::path> nsys_captures();
  void add(Family family, std::vector<captures::CallTimes> rows);

  fs::path folder_;
  RunMeasurements found_;
  std::map<std::tuple<Family, std::string, std::string>, std::size_t> calls_;  // in found_.series
};

/// Of a user's command: one run of it, of which only the whole is known.
void Reader::process() {
  const auto document = tree("baseline/process.json", parse_json);
  if (!document) return;
  const auto wall_ms = samples::wall_ms(*document);
  if (!wall_ms) return;
  Series wall;
  wall.name = wall.short_name = std::string(samples::kWallFigure);
  wall.unit = "ms";
  wall.units = {*wall_ms};
  wall.keys = {"command"};
  found_.series.push_back(std::move(wall));
}

void Reader::clocks() {
  const auto rows = text("baseline/gpu.jsonl");
  if (!rows) return;
  double sum = 0;
  double count = 0;
  for (const std::string_view line : lines(*rows)) {
    const auto row = parse_json(line, "gpu.jsonl");
    if (!row) return note(row.error());
    const double clock = number(row->find("sm_clock_mhz"));
    if (clock <= 0) continue;
    sum += clock;
    count += 1;
  }
  if (count > 0) found_.run.sm_clock_mhz = sum / count;
}

void Reader::unprofiled() {
  process();
  clocks();
  const std::string name = "baseline/samples.jsonl";
  const auto rows = text(name);
  if (!rows) return;
  const auto samples = kept(parse_samples(*rows, name));
  if (!samples) return;
  found_.new_tokens = 0;
  for (const Sample& sample : *samples) *found_.new_tokens += sample.new_tokens;
  found_.disturbance = samples::disturbed_share(*samples);
  for (samples::Series& one : samples::series_of(*samples)) {
    Series series;
    series.family = one.is_stage ? Family::Stage : Family::Metric;
    series.name = series.short_name = std::move(one.name);
    series.unit = std::move(one.unit);
    series.better = one.better;
    series.units = std::move(one.units);
    series.keys = std::move(one.keys);
    found_.series.push_back(std::move(series));
  }
}

std::vector<fs::path> Reader::nsys_captures() {
  const auto bytes = text("nsys/ranges.json");
  if (!bytes) return {};
  const auto ranges = kept(from_document<NsysRanges>(*bytes, "nsys/ranges.json"));
  std::vector<fs::path> files;
  if (!ranges) return files;
  for (const NsysCapture& capture : ranges->captures) {
    const fs::path file = folder_ / "nsys" / capture.sqlite;
    if (!capture.sqlite.empty() && is_there(file)) files.push_back(file);
  }
  return files;
}

void Reader::add(Family family, std::vector<captures::CallTimes> rows) {
  for (captures::CallTimes& row : rows) {
    const double total_ns = row.total_ns();
    if (total_ns <= 0) continue;
    const auto [place, is_new] =
        calls_.try_emplace({family, row.name, row.shape}, found_.series.size());
    if (is_new) found_.series.emplace_back();
    Series& series = found_.series[place->second];
    series.family = family;
    series.unit = "us";
    series.calls = series.calls.value_or(0) + row.ns.size();
    series.total = series.total.value_or(0) + total_ns / kNsPerUs;
    for (const double ns : statistics::block_means(row.ns, kBlocks)) {
      // A call shorter than the clock's step took something all the same.
      series.units.push_back(std::max(ns, 1.0) / kNsPerUs);
    }
    series.name = std::move(row.name);
    series.short_name = std::move(row.short_name);
    series.shape = std::move(row.shape);
  }
}

/// Kernels by nsys where it captured some, else by the torch profiler; operators by the latter.
void Reader::captures() {
  bool has_kernels = false;
  for (const fs::path& file : nsys_captures()) {
    const auto timeline = kept(nsys::read_sqlite(file));
    if (!timeline) continue;
    auto kernels = captures::kernel_times(*timeline);
    has_kernels = has_kernels || !kernels.empty();
    add(Family::Kernel, std::move(kernels));
  }
  const fs::path trace = folder_ / "torch_profiler" / "trace.json";
  if (!is_there(trace)) return;
  const auto timeline = kept(torch_profiler::read_trace(trace));
  if (!timeline) return;
  add(Family::Operator, captures::operator_times(*timeline));
  if (!has_kernels) add(Family::Kernel, captures::kernel_times(*timeline));
}

}  // namespace

Result<RunMeasurements> read_measurements(const fs::path& folder,
                                          const MeasurementOptions& options) {
  const RunRecord record = PL_TRY(read_run_record(folder));
  Reader reader(folder, record);
  reader.documents();
  reader.unprofiled();
  if (options.captures) reader.captures();
  return std::move(reader).take();
}

Result<std::vector<fs::path>> runs_in(const fs::path& folder) {
  if (is_there(folder / "run.json")) return std::vector{folder};
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    return Error(ErrorKind::NotFound, "'" + folder.string() +
                                          "' is no folder: name that of a run, "
                                          "or one that holds several");
  }
  std::vector<fs::path> runs;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    // `latest` points to one of the others.
    std::error_code ignored;
    if (!at->is_symlink(ignored) && is_there(at->path() / "run.json")) runs.push_back(at->path());
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + folder.string() + ": " + failure.message());
  }
  if (runs.empty()) {
    return Error(ErrorKind::NotFound, "'" + folder.string() +
                                          "' holds no run: neither it nor a folder in it has a "
                                          "run.json");
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace profline::comparison
