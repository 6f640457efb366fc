#include "stages/static_analysis/module_trace.h"

#include "base/files.h"
#include "formats/json.h"

namespace profline::stages {
namespace {

using static_model::Count;

Result<std::uint64_t> whole(const Node& document, const std::string& path,
                            const std::string& file) {
  const Node* value = document.find_path(path);
  if (value != nullptr && value->is_int() && value->as_int() >= 0) {
    return static_cast<std::uint64_t>(value->as_int());
  }
  return Error(ErrorKind::Parse, path + " must be an integer that is not negative")
      .during("reading " + file);
}

/// The request that was traced: attention counts as the square that kernels compute.
Result<static_model::Request> traced_request(const Node& document, const std::string& file) {
  static_model::Request request;
  request.prompt_tokens = PL_TRY(whole(document, "input.prompt_tokens", file));
  request.context = PL_TRY(whole(document, "input.decode_context", file));
  request.new_tokens = 2;
  request.attention = static_model::AttentionCount::Square;
  return request;
}

Result<std::vector<static_model::ViewBatch>> traced_views(const Node& document,
                                                          const std::string& file) {
  std::vector<static_model::ViewBatch> views;
  const std::uint64_t tiles = PL_TRY(whole(document, "input.tile_columns", file)) *
                              PL_TRY(whole(document, "input.tile_rows", file));
  // One tile is the page itself, which is not cut.
  if (tiles > 1) views.push_back({PL_TRY(whole(document, "input.tile_side", file)), tiles});
  views.push_back({PL_TRY(whole(document, "input.page_side", file)), 1});
  return views;
}

}  // namespace

Result<std::vector<static_model::TracedStage>> compare_with_trace(
    const AnalysisSubject& subject, const std::filesystem::path& static_trace) {
  const std::string file = static_trace.string();
  const Node document = PL_TRY(parse_json(PL_TRY(read_file(static_trace)), file));
  const auto format = static_model::number_format(subject.dtype);
  if (!format) return Error(ErrorKind::Config, "no figures for dtype '" + subject.dtype + "'");
  AnalysisSubject traced = subject;
  traced.views = PL_TRY(traced_views(document, file));
  const static_model::ModelCost cost =
      cost_of(traced, *format, PL_TRY(traced_request(document, file)));
  std::vector<static_model::TracedStage> stages;
  for (const static_model::StageCost& stage : cost.stages) {
    const std::string name(static_model::to_text(stage.stage));
    if (document.find_path("stages." + name) == nullptr) continue;
    const std::uint64_t flops = PL_TRY(whole(document, "stages." + name + ".flops", file));
    stages.push_back({name, Count(flops), stage.total().flops});
  }
  return stages;
}

}  // namespace profline::stages
