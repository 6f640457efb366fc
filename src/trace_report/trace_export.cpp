#include <limits>

#include "base/atomic_file.h"
#include "base/files.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "tools/torch_profiler/trace.h"
#include "trace_report/report.h"

namespace profline::trace_report {
namespace {

using Paths = std::vector<std::filesystem::path>;

std::string dims(const std::vector<std::uint32_t>& numbers) {
  if (numbers.empty()) return "";
  return std::to_string(numbers[0]) + 'x' + std::to_string(numbers[1]) + 'x' +
         std::to_string(numbers[2]);
}

/// One row per identity: kernel and launch shape.
std::string kernels_csv(const Report& report) {
  std::string out;
  csv::append_export(out, {"name", "short_name", "class", "grid", "block", "registers_per_thread",
                           "shared_bytes", "instances", "total_ns", "exclusive_ns", "alone_ns"});
  for (const Kernel& kernel : report.kernels) {
    for (const KernelUse& row : kernel.shapes) {
      const auto cell = [&](std::uint32_t number) {
        return row.grid.empty() ? std::string() : std::to_string(number);
      };
      const std::vector<std::string> cells = {kernel.use.name,
                                              kernel.use.short_name,
                                              kernel.use.kernel_class,
                                              dims(row.grid),
                                              dims(row.block),
                                              cell(row.registers_per_thread),
                                              cell(row.shared_bytes),
                                              std::to_string(row.launches),
                                              std::to_string(row.total_ns),
                                              std::to_string(row.exclusive_ns),
                                              std::to_string(row.alone_ns)};
      csv::append_export(out, cells);
    }
  }
  return out;
}

/// One row per kernel and operator that launched it.
std::string kernel_operators_csv(const Report& report) {
  std::string out;
  csv::append_record(out, {"name", "operator", "instances", "total_ns", "exclusive_ns"});
  for (const Kernel& kernel : report.kernels) {
    for (const KernelUse& row : kernel.launchers) {
      const std::vector<std::string> cells = {kernel.use.name, row.op, std::to_string(row.launches),
                                              std::to_string(row.total_ns),
                                              std::to_string(row.exclusive_ns)};
      csv::append_record(out, cells);
    }
  }
  return out;
}

std::string operators_csv(const Report& report) {
  std::string out;
  csv::append_export(
      out, {"name", "calls", "self_ns", "total_ns", "self_device_ns", "device_ns", "launched"});
  for (const operators::OperatorRow& row : report.operators.rows) {
    const std::vector<std::string> cells = {
        report.timeline->names.text(row.name), std::to_string(row.calls),
        std::to_string(row.self_ns),           std::to_string(row.total_ns),
        std::to_string(row.self_device_ns),    std::to_string(row.device_ns),
        std::to_string(row.launched)};
    csv::append_export(out, cells);
  }
  return out;
}

/// One row per range and device.
std::string ranges_csv(const Report& report) {
  std::string out;
  csv::append_export(out, {"name", "domain", "instances", "wall_ns", "device", "busy_ns", "idle_ns",
                           "own_busy_ns", "launches", "work"});
  const Names& names = report.timeline->names;
  for (const timeline::RangeAccount& range : report.accounting.ranges) {
    for (std::size_t i = 0; i < range.time.size(); ++i) {
      const std::vector<std::string> cells = {range.label,
                                              names.text(range.domain),
                                              std::to_string(range.instances),
                                              std::to_string(range.wall_ns),
                                              std::to_string(report.accounting.devices[i]),
                                              std::to_string(range.time[i].busy_ns()),
                                              std::to_string(range.time[i].ran_ns[0]),
                                              std::to_string(range.own[i].busy_ns),
                                              std::to_string(range.launch.launches),
                                              std::to_string(range.work.count)};
      csv::append_export(out, cells);
    }
  }
  return out;
}

Result<Paths> export_csv(const Report& report, const std::filesystem::path& folder) {
  PL_TRY(create_folders(folder));
  const std::pair<const char*, std::string> files[] = {
      {"kernels.csv", kernels_csv(report)},
      {"kernel_operators.csv", kernel_operators_csv(report)},
      {"operators.csv", operators_csv(report)},
      {"ranges.csv", ranges_csv(report)}};
  Paths written;
  for (const auto& [name, text] : files) {
    PL_TRY(write_file_atomic(folder / name, text));
    written.push_back(folder / name);
  }
  return written;
}

Result<Paths> export_perfetto(const Report& report, const std::filesystem::path& to) {
  AtomicFile file = PL_TRY(AtomicFile::create(to));
  PL_TRY(torch_profiler::write_chrome_trace(
      *report.timeline, [&](std::string_view text) { return file.append(text); }));
  PL_TRY(file.commit());
  return Paths{to};
}

/// `a/trace.json.gz` becomes `trace`.
std::string stem_of(const std::string& source) {
  std::filesystem::path name = std::filesystem::path(source).filename();
  for (const char* known : {".gz", ".json", ".sqlite", ".trace", ".pt"}) {
    if (name.extension() == known) name = name.stem();
  }
  return name.string();
}

}  // namespace

std::filesystem::path default_export_path(const Timeline& timeline, Export what) {
  const std::string stem = stem_of(timeline.source);
  switch (what) {
    case Export::Perfetto:
      return stem + ".perfetto.json";
    case Export::Csv:
      return stem + ".csv";
    case Export::Json:
      break;
  }
  return stem + ".report.json";
}

std::string left_out_of_perfetto(const Timeline& timeline) {
  std::string text;
  for (const Reading::Skipped& entry : timeline.reading.skipped) {
    if (entry.is_of_the_tool) continue;  // rewritten, or useless to other tools
    if (!text.empty()) text += ", ";
    text += entry.reason + " (" + std::to_string(entry.count) + ')';
  }
  return text;
}

Result<Paths> export_trace(const Report& report, Export what, const std::filesystem::path& to) {
  if (what == Export::Csv) return export_csv(report, to);
  if (what == Export::Perfetto) return export_perfetto(report, to);
  const Node document =
      trace_document(std::span(&report, 1), std::numeric_limits<std::size_t>::max());
  PL_TRY(write_file_atomic(to, PL_TRY(write_json(document))));
  return Paths{to};
}

}  // namespace profline::trace_report
