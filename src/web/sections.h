#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/node.h"
#include "web/markup.h"
#include "web/page_source.h"

namespace profline::web {

/// A part of the page: a heading that the page's index leads to, and what the charts in it show.
struct Section {
  std::string id;
  std::string title;
  Markup body = {};
  std::vector<std::pair<std::string, Node>> charts = {};  ///< by name, into the data of the page

  /// A figure that the page's script draws from `data`; `caption` says what is seen and where it is
  /// from. Where there is no script the figure is not there, so a table must say the same.
  void add_chart(const std::string& name, const std::string& label, const Markup& caption,
                 Node data);
  /// A paragraph that stands where there is nothing to show.
  void add_nothing(std::string_view why);
};

/// Files as code, each once, in the order of first mention; each given text may name several.
Markup from_files(const std::vector<std::string>& given);
/// `From a, b.` as a paragraph of its own.
Markup source_line(std::string_view what, const std::vector<std::string>& files);

// Data of charts.
Node number(double value);
Node number(const std::optional<double>& value);
Node texts(const std::vector<std::string>& values);
Node numbers(const std::vector<double>& values);
/// A map of what is named.
Node object(std::vector<std::pair<std::string, Node>> entries);

// The parts of the page, in the order in which they are read.

/// A verdict per phase, headline figures, phases against their floors: the first screen.
Section overview_section(const PageSource& source);
/// How times spread over images and tokens.
Section spread_section(const PageSource& source);
/// Where the device's time went while the model ran, and why it was idle.
Section device_section(const PageSource& source);
/// A few steps of decode as they happened.
Section timeline_section(const PageSource& source);
Section kernels_section(const PageSource& source);
Section roofline_section(const PageSource& source);
Section counters_section(const PageSource& source);
Section operators_section(const PageSource& source);
/// Clocks, power, temperature and memory over the measured run.
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

}  // namespace profline::web
