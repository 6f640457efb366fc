#include <algorithm>

#include "analysis/kernels/shipped_classes.h"
#include "base/files.h"
#include "stages/nsys/internal/captures.h"
#include "stages/nsys/internal/tables.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;

/// What the workload says it ran; nothing of a user's command, or of one that ended early.
std::vector<Sample> samples_of(const NsysRegion& region) {
  const fs::path file = region.workload() / "samples.jsonl";
  const auto text = read_file(file);
  if (!text) return {};
  return parse_samples(*text, file.string()).value_or({});
}

std::size_t decoded_in(const Timeline& timeline) {
  const auto name = timeline.names.find("decode");
  if (!name) return 0;
  return static_cast<std::size_t>(
      std::count_if(timeline.ranges.begin(), timeline.ranges.end(),
                    [&](const Range& range) { return range.name == *name && range.domain == 0; }));
}

Result<void> add_region(const pipeline::RunSetup& setup, const NsysRegion& region,
                        const kernels::Classifier& classifier, NsysTables& tables) {
  const std::vector<Sample> samples = samples_of(region);
  std::size_t ran = 0;  // of the samples, in the captures so far
  const fs::path stage = setup.stage_folder("nsys");
  for (const NsysReport& report : nsys_reports(region)) {
    ReadCapture capture;
    capture.about.name = report.name;
    capture.about.range = region.range;
    capture.about.report = report.report.lexically_relative(stage).string();
    capture.about.sqlite = report.sqlite.lexically_relative(stage).string();
    capture.timeline = PL_TRY(nsys::read_sqlite(report.sqlite));
    capture.samples = std::span(samples).subspan(std::min(ran, samples.size()));
    ran += decoded_in(capture.timeline);
    add_capture(capture, classifier, tables);
  }
  return {};
}

}  // namespace

Result<NsysTables> make_tables(const pipeline::StageContext& context) {
  const pipeline::RunSetup& setup = context.setup;
  const kernels::Classifier classifier = PL_TRY(kernels::shipped_classifier());
  NsysTables tables;
  tables.ranges.tool = "nsys " + nsys_of(context.tools).version.to_string();
  for (const NsysRegion& region : nsys_regions(setup)) {
    PL_TRY(add_region(setup, region, classifier, tables));
  }
  finish(tables);
  if (tables.kernels.kernels.empty()) {
    const bool is_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
    tables.kernels.why_none = is_gpu ? "the captures hold no kernels"
                                     : "the workload runs on the CPU, where there are no kernels";
  }
  return tables;
}

}  // namespace profline::stages::internal
