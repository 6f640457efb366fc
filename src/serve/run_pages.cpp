#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/figures.h"
#include "base/strings.h"
#include "records/document.h"
#include "records/run_summary.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "serve/internal/pages.h"
#include "serve/internal/run_files.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;
using web::Table;
using Align = Table::Align;

/// The last bytes of a file, from the beginning of a line.
std::string tail_of(const fs::path& folder, const std::string& below) {
  constexpr std::uint64_t kMost = 6000;
  const auto body = file_below(folder, below);
  if (!body) return "";
  const std::uint64_t from = body->size > kMost ? body->size - kMost : 0;
  std::string bytes(static_cast<std::size_t>(body->size - from), '\0');
  const ssize_t count =
      ::pread(body->file.get(), bytes.data(), bytes.size(), static_cast<off_t>(from));
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (from > 0) bytes.erase(0, std::min(bytes.find('\n') + 1, bytes.size()));
  return bytes;
}

/// Seconds between two moments as records have them, to the second; nothing if one is missing.
std::optional<double> seconds_between(const std::string& from, const std::string& to) {
  const auto seconds = [](const std::string& utc) -> std::optional<double> {
    std::tm parts{};
    const char* const end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == nullptr) return std::nullopt;
    return static_cast<double>(::timegm(&parts));
  };
  const auto first = seconds(from);
  const auto last = seconds(to);
  if (!first || !last || *last < *first) return std::nullopt;
  return *last - *first;
}

std::string elapsed_text(const std::string& from, const std::string& to) {
  const auto seconds = seconds_between(from, to);
  return seconds ? human_elapsed(std::chrono::duration<double>(*seconds)) : "–";
}

Markup fact(std::string_view name, const Markup& value) {
  return element("div", element("dt", text(name)) + element("dd", value));
}

Markup findings_of(const std::vector<Finding>& findings) {
  Markup items;
  for (const Finding& finding : findings) {
    const char* const severity = finding.severity == Severity::Problem   ? "problem"
                                 : finding.severity == Severity::Warning ? "warning"
                                                                         : "note";
    items += element(
        "li",
        element("span", {{"class", "tag"}, {"data-severity", severity}}, text(severity)) +
            text(" " + finding.text) +
            (finding.fix.empty() ? Markup()
                                 : element("span", {{"class", "fix"}}, text(": " + finding.fix))));
  }
  return items.empty() ? Markup() : element("ul", {{"class", "findings"}}, items);
}

Markup stages_of(const RunRecord& record, bool is_running, const std::string& now) {
  Markup items;
  for (const StageRecord& stage : record.stages) {
    if (stage.state == StageState::Off || stage.state == StageState::Skipped) continue;
    const std::string state(to_text(stage.state));
    const bool is_here = is_running && stage.state == StageState::Running;
    std::string time;
    if (!stage.started.empty()) {
      time = elapsed_text(stage.started, stage.ended.empty() && is_here ? now : stage.ended);
    }
    items +=
        element("li", {{"data-state", state}, {is_here ? "aria-current" : "", "step"}},
                element("span", {{"class", "name"}}, text(stage.name)) + state_tag(state) +
                    element("span", {{"class", "time"}}, text(time)) + findings_of(stage.findings));
  }
  return element("ol", {{"class", "stages"}}, items);
}

/// text() shows an end of a line as a sign of its own.
Markup text_of_lines(std::string_view shown) {
  Markup all;
  for (const std::string_view line : lines(shown)) all += text(line) + web::verbatim("\n");
  return all;
}

/// What the running stage's last command printed.
Markup output_of_run(const fs::path& folder, const RunRecord& record) {
  for (const StageRecord& stage : record.stages) {
    if (stage.state != StageState::Running || stage.commands.empty()) continue;
    const CommandRecord& command = stage.commands.back();
    const std::string shown = tail_of(folder, command.log);
    if (shown.empty()) return {};
    return element("h2", text("Output of " + stage.name)) +
           element("pre", {{"tabindex", "0"}, {"class", "output"}},
                   element("code", text_of_lines(shown)));
  }
  return {};
}

std::map<std::string, std::string> digests_of(const RunRecord& record) {
  std::map<std::string, std::string> digests;
  const auto add = [&](const std::vector<ArtifactRecord>& artifacts) {
    for (const ArtifactRecord& each : artifacts) digests[each.path] = each.sha256;
  };
  add(record.artifacts);
  for (const StageRecord& stage : record.stages) add(stage.artifacts);
  return digests;
}

struct ListedFiles {
  std::vector<FoundFile> files;
  bool is_cut = false;  ///< there are others that the run did not record
};

/// What the run recorded and what a timeline can be drawn of, then others, as many as fit.
ListedFiles files_of(const fs::path& folder, const std::map<std::string, std::string>& digests) {
  constexpr std::size_t kMost = 2000;
  const auto is_first = [&](const std::string& path) {
    return digests.contains(path) || is_capture(path);
  };
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  ListedFiles listed{files_below(folder, kAll, is_first)};
  const std::size_t room = kMost - std::min(kMost, listed.files.size());
  std::vector<FoundFile> others =
      files_below(folder, room + 1, [&](const std::string& path) { return !is_first(path); });
  listed.is_cut = others.size() > room;
  others.resize(std::min(others.size(), room));
  std::move(others.begin(), others.end(), std::back_inserter(listed.files));
  return listed;
}

}  // namespace

Result<Response> report_page(const Context& context, const ListedRun& run) {
  PL_TRY(context.library.check_files(run.known.folder));
  const run::Run opened = PL_TRY(run::Run::open(run.known.folder));
  const RunSummary summary = PL_TRY(from_document<RunSummary>(
      PL_TRY(read_file(run.known.folder / run::files::kSummary)), run::files::kSummary));
  Response response;
  response.body = PL_TRY(web::page_of({opened, summary, site_links(context, &run)}));
  return response;
}

Result<Response> progress_page(const Context& context, const ListedRun& run) {
  PL_TRY(context.library.check_files(run.known.folder));
  const RunRecord record = PL_TRY(run::Run::open(run.known.folder)).record();
  const bool is_running = run.known.row.state == "running";
  const std::string now = utc_timestamp(SystemClock().wall_now());
  Content content{.title = run.known.row.folder, .section = "", .main = {}};
  if (is_running) content.refresh_s = 2;
  Markup facts = fact("state", state_tag(run.known.row.state));
  if (!record.experiment.empty()) facts += fact("experiment", text(record.experiment));
  facts += fact("started", moment(record.started)) + fact("host", text(record.host));
  if (is_running) facts += fact("running for", text(elapsed_text(record.started, now)));
  content.main = element("h1", element("code", text(run.known.row.folder))) +
                 element("dl", {{"class", "facts"}}, facts) + findings_of(record.findings) +
                 element("h2", text("Stages")) + stages_of(record, is_running, now) +
                 output_of_run(run.known.folder, record) +
                 element("p", link(address_of({.page = Page::Files, .id = run.id}),
                                   text("Files of this run")));
  if (!is_running) {
    content.main += note("This run has no summary, so it has no report. 'profline report " +
                         run.known.folder.string() + "' writes what can be written.");
  }
  return page_response(content);
}

Result<Response> files_page(const Context& context, const ListedRun& run) {
  PL_TRY(context.library.check_files(run.known.folder));
  const RunRecord record = PL_TRY(run::Run::open(run.known.folder)).record();
  const auto digests = digests_of(record);
  const ListedFiles listed = files_of(run.known.folder, digests);
  const std::vector<FoundFile>& files = listed.files;
  Table table(
      "files", "files of the run",
      {{"file", Align::Left}, {"size"}, {"SHA-256", Align::Left}, {"actions", Align::Left}});
  if (files.size() > 12) table.with_search();
  bool has_traces = false;
  std::uint64_t bytes = 0;
  for (const FoundFile& file : files) {
    bytes += file.size;
    const std::string at = address_of({.page = Page::File, .id = run.id, .path = file.path});
    const auto digest = digests.find(file.path);
    Markup tools = link(at + "?download=1", text("Download"));
    if (is_trace(file.path)) {
      has_traces = true;
      tools += element("button",
                       {{"type", "button"},
                        {"class", "needs-script perfetto"},
                        {"data-trace", at},
                        {"data-name", run.known.row.folder + " " + file.path}},
                       text("Open in Perfetto (needs network)"));
    }
    table.add({{link(at, web::code(file.path)), {}, {}},
               {text(human_bytes(file.size)), static_cast<double>(file.size), {}},
               {digest == digests.end() ? text("–") : web::code(digest->second, 16), {}, {}},
               {element("span", {{"class", "row-tools"}}, tools), {}, {}}});
  }
  Content content{.title = "Files of " + run.known.row.folder, .section = "", .main = {}};
  content.main =
      element("p", {{"class", "crumbs"}}, link("/", text("Runs")) + text(" / ") + run_link(run)) +
      element("h1", text("Files")) +
      element("p", {{"class", "lead"}},
              text(counted(files.size(), "file") + ", " + human_bytes(bytes) +
                   (listed.is_cut ? "; there are more" : "") + "."));
  if (has_traces) {
    content.main += element(
        "p", {{"class", "from"}, {"id", "perfetto-note"}},
        text("“Open in Perfetto” loads ui.perfetto.dev from the network and hands it the trace "
             "inside your browser; the trace is not uploaded. Without a network, download the "
             "trace and open it in any copy of Perfetto."));
    content.main += element("p", {{"role", "status"}, {"id", "perfetto-status"}});
  }
  content.main += table.markup();
  return page_response(content);
}

Result<Response> file_response(const ListedRun& run, const Target& target) {
  Response response;
  response.file = PL_TRY(file_below(run.known.folder, target.path));
  const std::string name = fs::path(target.path).filename().string();
  const bool is_text =
      ends_with_any(name, {".json", ".jsonl", ".yaml", ".md", ".txt", ".log", ".csv"}) ||
      name == run::files::kLog;
  const bool is_picture = ends_with_any(name, {".png", ".jpg"});
  response.type = is_text ? "text/plain; charset=utf-8" : "application/octet-stream";
  if (is_picture) response.type = name.ends_with(".png") ? "image/png" : "image/jpeg";
  response.policy = "default-src 'none'; sandbox";
  const bool is_shown = (is_text || is_picture) && target.query.get("download").empty();
  // The name as RFC 8187 has it: nothing in it ends the header.
  response.headers.emplace_back(
      "Content-Disposition",
      (is_shown ? "inline" : "attachment") + std::string("; filename*=UTF-8''") + escaped(name));
  return response;
}

}  // namespace profline::serve
