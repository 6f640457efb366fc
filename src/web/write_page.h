#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "sweep/sweep.h"

/// `report.html`: a run as one self-contained file that needs no network.
namespace profline::web {

/// The capture from which the page shows a few steps.
struct ShownCapture {
  std::string file;  ///< below the run's folder
  std::string tool;  ///< the stage: `nsys`, `torch_profiler`
  const Timeline* rows = nullptr;
};

/// A link at the top of a page that is served: to the list of runs, the files of this one.
struct PageLink {
  std::string text;
  std::string href;
};

/// The input of the page.
struct PageSource {
  const run::Run& run;
  const RunSummary& summary;
  std::vector<PageLink> links = {};

  /// The nsys capture if there is one, else the torch profiler's trace; no rows: neither exists.
  ShownCapture shown_capture() const;
  /// Why the nsys capture is not shown: the file, and what is wrong with it.
  std::string why_no_capture() const;
};

/// Writes the page into the run's folder and returns its name there.
Result<std::filesystem::path> write_page(const run::Run& run, const RunSummary& summary);

/// The page itself.
Result<std::string> page_of(const PageSource& source);

/// The Content-Security-Policy of a page with these inline scripts: only they run, by hash, and
/// nothing is loaded from anywhere.
std::string content_policy(std::span<const std::string> scripts);

/// The policy of every page that this program writes, for the header of a response.
std::string page_policy();

/// `sweep.html`: a sweep as one self-contained page, with links to the reports of its jobs. `name`
/// is that of its folder; the sweep is summarised (sweep::summarise).
Result<std::string> sweep_page(const sweep::Sweep& sweep, const std::string& name,
                               const std::vector<PageLink>& links = {});

}  // namespace profline::web
