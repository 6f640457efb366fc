#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/interrupt.h"
#include "run_index/run_selection.h"
#include "serve/library.h"
#include "serve/response.h"
#include "serve/target.h"
#include "web/markup.h"
#include "web/write_page.h"

/// The pages of `profline serve`: functions of a snapshot and an address.
namespace profline::serve {

using web::Attributes;
using web::element;
using web::Markup;
using web::text;

/// What pages are made from.
struct Context {
  const Library& library;
  std::shared_ptr<const Snapshot> snapshot;  ///< never null
  const Interrupt& interrupt;
  bool has_timeline = false;  ///< a capture can be shown as a timeline
};

/// A page apart from what all pages share.
struct Content {
  std::string title;
  std::string_view section;  ///< `Runs`: which link of the header leads here
  Markup main;
  /// The page reads itself again after so many seconds, while somebody looks at it.
  std::optional<int> refresh_s = {};
  int status = 200;
};
Response page_response(const Content& content);
/// A page that says what went wrong: `heading` is short, `why` a sentence.
Response problem_page(int status, std::string_view heading, std::string_view why);
/// The same for an Error; its kind decides the status.
Response problem_page(const Error& error);
Response redirect_to(const std::string& address);
/// Styles and scripts, by name; nothing if there is no such asset.
std::optional<Response> asset_response(const std::string& name);

// The pages.
Response runs_page(const Context& context, const Query& query);
Response trends_page(const Context& context, const Query& query);
Response compare_page(const Context& context, const Query& query);
Response sweeps_page(const Context& context);
Result<Response> sweep_page(const Context& context, const ListedSweep& sweep);
/// A run that has a report, as report.html.
Result<Response> report_page(const Context& context, const ListedRun& run);
/// A run without a report: it is going on, or did not get that far.
Result<Response> progress_page(const Context& context, const ListedRun& run);
Result<Response> files_page(const Context& context, const ListedRun& run);
Result<Response> file_response(const ListedRun& run, const Target& target);

// Parts of pages.

/// A link to a page of a run, or of anything else.
Markup link(const std::string& address, const Markup& shown);
Markup run_link(const ListedRun& run);
Markup state_tag(std::string_view state);
/// `2026-11-15 10:20`, with the moment for programs.
Markup moment(const std::string& utc);
Markup note(std::string_view what);
/// What the roots are, and what is wrong with them.
Markup notes_of(const Context& context);
/// A choice of a form; the first is `any`.
Markup select_field(const std::string& label, const std::string& name,
                    const std::vector<std::string>& values, const std::string& chosen);
Markup input_field(const std::string& label, const std::string& name, const std::string& type,
                   const std::string& value, const std::string& hint = {});
/// The address of a page with these parameters; empty values are left out.
std::string address(Page page, const Query& query);
/// The query with one value in place of all others of that name.
Query with(const Query& query, std::string_view name, const std::string& value);
/// The links at the top of a run's report.
std::vector<web::PageLink> site_links(const Context& context, const ListedRun* run);
bool contains(std::string_view text, std::string_view part);

// Choosing runs.

/// Each value that runs have, most frequent first, at most 200.
std::vector<std::string> values_of(
    const Snapshot& snapshot, const std::function<std::string(const run_index::IndexedRun&)>& of);
/// What a run ran: its model, else its program.
const std::string& workload_of(const run_index::IndexedRun& run);
/// The form's fields that choose runs, and the runs that they choose.
class RunChoice {
 public:
  /// An Error of kind Config names the field that cannot be read.
  static Result<RunChoice> read(const Query& query);
  bool holds(const ListedRun& run) const;
  /// The same, whatever commit the run is of.
  bool holds_apart_from_commit(const ListedRun& run) const;
  /// Whether a commit is the one that is asked for; false if none is.
  bool is_wanted_commit(std::string_view commit) const;
  /// The beginning of the commit that is asked for; empty: none is.
  const std::string& commit() const { return commit_; }
  /// The fields, for a form; `extra` follows them.
  static Markup fields(const Snapshot& snapshot, const Query& query);
  /// Names of metrics that a condition mentions.
  const std::vector<std::string>& metrics() const { return metrics_; }

 private:
  std::vector<std::string> words_;
  std::string state_;
  std::string experiment_;
  std::string workload_;
  std::string device_;
  std::string commit_;
  run_index::RunFilter filter_;
  std::vector<std::string> metrics_;
};

}  // namespace profline::serve
