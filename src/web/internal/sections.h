#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "formats/node.h"
#include "web/assets.h"
#include "web/markup.h"
#include "web/write_page.h"

namespace profline::web {

/// Of a table: nobody reads more.
inline constexpr std::size_t kMostRows = 1000;

/// A section of the page: a heading that the index links to, its body, and the data of its charts.
struct Section {
  std::string id;
  std::string title;
  Markup body = {};
  std::vector<std::pair<std::string, Node>> charts = {};  ///< by name; part of the page's data

  /// A chart that the page's script draws from `data`; `caption` says what it shows and the source.
  /// Without JavaScript it is missing, so a table must give the same information.
  void add_chart(const std::string& name, const std::string& label, const Markup& caption,
                 Node data);
  /// A paragraph in place of content, saying why nothing is shown.
  void add_nothing(std::string_view why);
};

/// What surrounds the sections of a page.
struct PageFrame {
  std::string title;    ///< of the window
  std::string heading;  ///< after the program's name
  std::string skip;     ///< text of the link that skips to the first section
  Markup facts = {};    ///< below the heading
  std::vector<PageLink> links = {};
};
/// A self-contained page; `sections` is not empty.
Result<std::string> framed_page(const PageFrame& frame, const std::vector<Section>& sections);

/// Files as code, each once, in order of first mention; one text may name several files.
Markup from_files(const std::vector<std::string>& given);
/// A paragraph: `what`, then `From a, b.`
Markup source_line(std::string_view what, const std::vector<std::string>& files);

// Data of charts.
Node number(double value);
Node number(const std::optional<double>& value);
Node texts(const std::vector<std::string>& values);
Node numbers(const std::vector<double>& values);
/// A map with these entries.
Node object(std::vector<std::pair<std::string, Node>> entries);

// The sections of the page, in reading order.

/// The first screen: a verdict per phase, headline figures, phases against their floors.
Section overview_section(const PageSource& source);
/// The load on a server, of a summary that has one.
Section load_section(const PageSource& source);
Section server_section(const PageSource& source);
/// The ranks of a program, of a summary that has them.
Section ranks_section(const PageSource& source);
/// The spread of times over images and tokens.
Section spread_section(const PageSource& source);
/// Where the device's time went while the model ran, and why it was idle.
Section device_section(const PageSource& source);
/// A few steps of decode as they happened.
Section timeline_section(const PageSource& source);
Section kernels_section(const PageSource& source);
Section roofline_section(const PageSource& source);
Section counters_section(const PageSource& source);
Section operators_section(const PageSource& source);
/// Clocks, power, temperature, memory and energy over the measured run.
Section nvml_section(const PageSource& source);
/// What each profiler cost.
Section overhead_section(const PageSource& source);
/// How the run went: stages, findings, limits, and what was not captured.
Section run_section(const PageSource& source);
/// Every value of the config with its origin.
Section config_section(const PageSource& source);
Section environment_section(const PageSource& source);
Section commands_section(const PageSource& source);
Section artifacts_section(const PageSource& source);

/// The number of values in each bin between neighbouring edges, the last edge included. If a few
/// values are far out, the bins end below them and `above` counts them.
struct Histogram {
  std::vector<double> edges;
  std::vector<double> counts;
  std::size_t above = 0;
};
Histogram histogram(std::vector<double> values, std::size_t bins);

/// The distribution of the values at one place (or a few neighbouring ones) of many series.
struct Band {
  double first = 0;  ///< first place of the band
  double last = 0;   ///< last place of the band
  double low = 0;    ///< the tenth percentile
  double median = 0;
  double high = 0;  ///< the ninetieth
  std::size_t n = 0;
};
/// Aligns series of different lengths by place; neighbouring places are merged so that there are at
/// most `most` bands.
std::vector<Band> bands(std::span<const std::vector<double>> series, std::size_t most);

/// `echarts.min.js`; empty when the program was built without it.
std::span<const EmbeddedFile> chart_library();

}  // namespace profline::web
