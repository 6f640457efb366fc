#include <fmt/format.h>

#include "base/figures.h"
#include "summary/stage_times.h"
#include "web/histogram.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

constexpr std::size_t kBins = 40;
constexpr std::size_t kMostBands = 256;
constexpr std::size_t kMostImages = 500;
constexpr const char* kParts[] = {"preprocess", "prefill", "sam",   "clip",
                                  "projector",  "lm",      "decode"};

Node of_histogram(const char* title, const Histogram& histogram) {
  return object({{"title", Node::string(title)},
                 {"edges_ns", numbers(histogram.edges)},
                 {"counts", numbers(histogram.counts)},
                 {"above", Node::integer(static_cast<std::int64_t>(histogram.above))}});
}

std::vector<std::vector<double>> token_times(const summary::Samples& samples) {
  std::vector<std::vector<double>> series;
  for (const Sample& sample : samples) {
    std::vector<double> times;
    times.reserve(sample.token_ns.size());
    for (const std::int64_t ns : sample.token_ns) times.push_back(static_cast<double>(ns));
    series.push_back(std::move(times));
  }
  return series;
}

std::vector<double> image_times(const summary::Samples& samples, std::string_view stage) {
  std::vector<double> times;
  for (const Sample& sample : samples) {
    const summary::StageTime time = summary::stage_time(sample, stage);
    if (time.units > 0) times.push_back(time.ns);
  }
  return times;
}

Markup spread_table(const summary::Samples& samples, const Node* metrics) {
  using Align = Table::Align;
  Table table("spread-table", "spread of the unprofiled times",
              {{"what", Align::Left},
               {"n"},
               {"median"},
               {"95 % of the median", Align::Right, "bootstrap interval"},
               {"mean"},
               {"std", Align::Right, "of the population"},
               {"p90"},
               {"p99"},
               {"min"},
               {"max"}});
  for (const char* stage : kParts) {
    const auto times = summary::stage_spread(samples, metrics, stage);
    if (!times || times->max_ns <= 0) continue;
    const bool is_decode = std::string_view(stage) == "decode";
    table.add({text_cell(is_decode ? "decode, per token" : stage),
               number_cell(times->n),
               duration_cell(times->median_ns),
               {text(fmt::format("{} to {}", duration(times->median_low_ns),
                                 duration(times->median_high_ns))),
                times->median_high_ns - times->median_low_ns,
                {}},
               duration_cell(times->mean_ns),
               duration_cell(times->std_ns),
               duration_cell(times->p90_ns),
               duration_cell(times->p99_ns),
               duration_cell(times->min_ns),
               duration_cell(times->max_ns)});
  }
  return table.markup();
}

std::optional<double> optional_ns(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional<double>(static_cast<double>(*ns)) : std::nullopt;
}

std::string_view ended_by(FinishReason reason) {
  switch (reason) {
    case FinishReason::Eos:
      return "the model";
    case FinishReason::Length:
      return "the limit";
    case FinishReason::None:
      break;
  }
  return "";
}

Markup image_table(const summary::Samples& samples) {
  using Align = Table::Align;
  Table table("images-table", "measured images",
              {{"image", Align::Left},
               {"epoch"},
               {"prompt tokens"},
               {"new tokens"},
               {"ended by", Align::Left, "why generation ended"},
               {"preprocess"},
               {"prefill"},
               {"sam"},
               {"clip"},
               {"lm"},
               {"decode"},
               {"per token", Align::Right, "mean of the steps after the first token"}});
  table.with_search();
  for (std::size_t i = 0; i < std::min(samples.size(), kMostImages); ++i) {
    const Sample& sample = samples[i];
    std::optional<double> per_token;
    if (sample.decode_ns && !sample.token_ns.empty()) {
      per_token =
          static_cast<double>(*sample.decode_ns) / static_cast<double>(sample.token_ns.size());
    }
    table.add({{code(sample.image, 48), {}, {}},
               number_cell(sample.epoch),
               number_cell(sample.prompt_tokens),
               number_cell(sample.new_tokens),
               text_cell(ended_by(sample.finish)),
               duration_cell(static_cast<double>(sample.preprocess_ns)),
               duration_cell(static_cast<double>(sample.prefill_ns)),
               duration_cell(optional_ns(sample.sam_ns)),
               duration_cell(optional_ns(sample.clip_ns)),
               duration_cell(optional_ns(sample.lm_ns)),
               duration_cell(optional_ns(sample.decode_ns)),
               duration_cell(per_token)});
  }
  Markup html = table.markup();
  if (samples.size() > kMostImages) {
    html += source_line(
        fmt::format("The first {} of {}.", kMostImages, counted(samples.size(), "image")), {});
  }
  return html;
}

void add_tokens(Section& section, const summary::Samples& samples, const std::string& file) {
  const auto series = token_times(samples);
  std::vector<double> all;
  for (const auto& times : series) all.insert(all.end(), times.begin(), times.end());
  if (all.empty()) return;
  section.add_chart(
      "tokens", "how many tokens took how long",
      text("Decode steps by how long they took. From ") + from_files({file}) + text("."),
      of_histogram("tokens", histogram(all, kBins)));
  Node list = Node::list();
  for (const Band& band : bands(series, kMostBands)) {
    list.as_list().push_back(numbers(
        {band.first, band.last, band.low, band.median, band.high, static_cast<double>(band.n)}));
  }
  section.add_chart("steps", "time of a decode step by its position in the answer",
                    text("Time of a step by its position: the median, and the middle 80 %."),
                    std::move(list));
}

}  // namespace

Section spread_section(const PageSource& source) {
  Section section{"spread", "Spread over images and tokens"};
  const auto& baseline = source.run.baseline;
  if (source.summary.program) {
    section.add_nothing("The program ran once without a profiler, so there is no spread: see " +
                        source.summary.program->source + ".");
    return section;
  }
  if (!baseline || baseline->empty()) {
    section.add_nothing("There is no run without a profiler: " + baseline.file + " " +
                        (baseline.why_not.empty() ? "has no samples" : baseline.why_not) + ".");
    return section;
  }
  Section charts{"", ""};
  Node images = Node::list();
  for (const char* stage : {"prefill", "decode"}) {
    const auto times = image_times(*baseline, stage);
    // A strip shows each image; what many of them come to is in the table.
    if (times.empty()) continue;
    const std::vector<double> shown(
        times.begin(),
        times.begin() + static_cast<std::ptrdiff_t>(std::min(times.size(), kMostImages)));
    images.as_list().push_back(
        object({{"name", Node::string(stage)}, {"times_ns", numbers(shown)}}));
  }
  charts.add_chart(
      "images", "time of each image",
      text("Prefill and decode of each measured image, in the order in which they ran."),
      std::move(images));
  add_tokens(charts, *baseline, baseline.file);
  section.charts = std::move(charts.charts);
  section.body += element("div", {{"class", "plots"}}, charts.body);
  const Node* const metrics = source.run.metrics ? &*source.run.metrics : nullptr;
  section.body += spread_table(*baseline, metrics) +
                  source_line("Without a profiler, after warm-up.",
                              {metrics != nullptr ? source.run.metrics.file : baseline.file});
  section.body +=
      element("details", {{"class", "more"}},
              element("summary", text(fmt::format("Each image ({})", baseline->size()))) +
                  image_table(*baseline) + source_line("", {baseline.file}));
  return section;
}

}  // namespace profline::web
