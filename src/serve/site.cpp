#include "serve/site.h"

#include <chrono>

#include "run/names/artifact_names.h"
#include "run/run.h"
#include "serve/internal/pages.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotAllowed = 405;
constexpr int kUnavailable = 503;

/// Browsers ask for the icon of the page that was shown before; nothing else is loaded.
constexpr const char* kIconAlone =
    "default-src 'none'; img-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'";

/// For those who may see nothing: without styles, because those need the token as well.
Response refusal(int status, std::string_view heading, std::string_view why) {
  Response response;
  response.status = status;
  response.policy = kIconAlone;
  response.body =
      "<!doctype html>\n" +
      element("html", {{"lang", "en"}},
              element("head", element("meta", {{"charset", "utf-8"}}) +
                                  element("title", text(std::string(heading) + " · profline"))) +
                  element("body",
                          element("main", element("h1", text(heading)) + element("p", text(why)))))
          .html() +
      "\n";
  return response;
}

/// Sets the cookie and leads to the same address without the token, which then is in no history, no
/// bookmark and no screenshot. A redirect would not do: after a link from another program or site,
/// browsers send the cookie only with requests that our own page makes.
Response welcome(const AccessRules& rules, Target target) {
  std::erase_if(target.query.entries, [](const auto& entry) { return entry.first == "token"; });
  const std::string address = address_of(target);
  Response response;
  response.policy = kIconAlone;
  response.headers.emplace_back(
      "Set-Cookie", rules.cookie_name + "=" + rules.token + "; Path=/; HttpOnly; SameSite=Strict");
  response.body =
      "<!doctype html>\n" +
      element("html", {{"lang", "en"}},
              element("head", element("meta", {{"charset", "utf-8"}}) +
                                  element("meta", {{"http-equiv", "refresh"},
                                                   {"content", "0; url=" + address}}) +
                                  element("title", text("profline"))) +
                  element("body", element("p", link(address, text("Continue to profline")))))
          .html() +
      "\n";
  return response;
}

Response still_reading() {
  Content content{.title = "Reading runs", .section = "Runs", .main = {}, .refresh_s = 1};
  content.main =
      element("h1", text("Runs")) + element("p", {{"class", "lead"}, {"role", "status"}},
                                            text("The runs are being read for the first time."));
  return page_response(content);
}

/// Changes whenever the run or its summary is written.
std::string stamp_of(const fs::path& folder) {
  std::string stamp;
  for (const char* name : {run::files::kRecord, run::files::kSummary}) {
    std::error_code failure;
    const auto time = fs::last_write_time(folder / name, failure);
    if (!failure) stamp += std::to_string(time.time_since_epoch().count());
    stamp += ' ';
  }
  return stamp;
}

}  // namespace

Site::Site(catalog::Catalog catalog, AccessRules rules, const Interrupt& interrupt,
           TimelineView timeline)
    : library_(std::move(catalog)),
      rules_(std::move(rules)),
      interrupt_(interrupt),
      timeline_(std::move(timeline)),
      report_policy_(web::page_policy() + "; frame-ancestors 'none'") {}

Response Site::respond(Visitor visitor, std::string_view address) {
  const auto target = parse_target(address);
  if (target) visitor.token = target->query.get("token");
  switch (access_of(visitor, rules_)) {
    case Access::ForeignHost:
      return refusal(kForbidden, "Forbidden",
                     "This address leads to profline serve, but under a name that is not its own.");
    case Access::ForeignSite:
      return refusal(kForbidden, "Forbidden", "Another site may not read what profline serves.");
    case Access::WrongMethod: {
      Response response =
          refusal(kNotAllowed, "Method not allowed", "There is nothing to change here.");
      response.headers.emplace_back("Allow", "GET, HEAD");
      return response;
    }
    case Access::NoToken:
      return refusal(kUnauthorized, "Not authorised",
                     "Open the address that 'profline serve' printed: it has the token.");
    case Access::ByAddress: {
      const bool is_page = target && target->page != Page::File && target->page != Page::Tiles &&
                           target->page != Page::Asset;
      if (is_page) return welcome(rules_, *target);
      break;
    }
    case Access::Granted:
      break;
  }
  if (!target) return problem_page(target.error());
  return answer(*target);
}

template <typename Make>
Response Site::at_its_turn(const Make& make) {
  constexpr std::chrono::seconds kPatience(20);
  if (!turns_.try_acquire_for(kPatience)) {
    Response busy =
        problem_page(kUnavailable, "Busy", "Other pages are being made. Try again in a moment.");
    busy.headers.emplace_back("Retry-After", "5");
    return busy;
  }
  struct Turn {
    std::counting_semaphore<kAtOnce>& turns;
    ~Turn() { turns.release(); }
  } const turn{turns_};
  return make();
}

Response Site::report_of(const ListedRun& run, const Context& context) {
  constexpr std::size_t kMost = 8;
  const std::string stamp =
      stamp_of(run.known.folder) + std::to_string(context.snapshot->generation);
  {
    const std::scoped_lock lock(made_mutex_);
    for (const MadePage& page : made_) {
      if (page.run != run.id || page.stamp != stamp) continue;
      Response response;
      response.body = page.body;
      response.policy = report_policy_;
      return response;
    }
  }
  return at_its_turn([&] {
    auto page = report_page(context, run);
    if (!page) return problem_page(page.error());
    page->policy = report_policy_;
    const std::scoped_lock lock(made_mutex_);
    std::erase_if(made_, [&](const MadePage& made) { return made.run == run.id; });
    made_.push_back({run.id, stamp, page->body});
    if (made_.size() > kMost) made_.pop_front();
    return std::move(*page);
  });
}

Response Site::run_page(const Target& target, const Context& context) {
  const ListedRun* run = context.snapshot->find(target.id);
  if (run == nullptr) {
    return problem_page(Error(ErrorKind::NotFound, "there is no run '" + target.id + "'"));
  }
  const auto shown = [](Result<Response> made) {
    return made ? std::move(*made) : problem_page(made.error());
  };
  switch (target.page) {
    case Page::Files:
      return shown(files_page(context, *run));
    case Page::File:
      return shown(file_response(*run, target));
    case Page::RunLink:
      return redirect_to(address_of({.page = Page::File, .id = target.id, .path = target.path}));
    case Page::Timeline:
      if (timeline_.page) return timeline_.page(run->known, target);
      break;
    case Page::Tiles:
      if (timeline_.tiles) return timeline_.tiles(run->known, target);
      break;
    default: {
      std::error_code failure;
      const bool is_running = run->known.row.state == "running";
      const bool has_report = fs::exists(run->known.folder / run::files::kSummary, failure);
      if (has_report && !is_running) return report_of(*run, context);
      return shown(progress_page(context, *run));
    }
  }
  return problem_page(Error(ErrorKind::NotFound, "this profline shows no timelines"));
}

Response Site::answer(const Target& target) {
  if (target.page == Page::Asset) {
    auto asset = asset_response(target.path);
    return asset ? std::move(*asset)
                 : problem_page(Error(ErrorKind::NotFound, "there is no such asset"));
  }
  const auto snapshot = library_.current();
  if (snapshot == nullptr) return still_reading();
  const Context context{library_, snapshot, interrupt_, timeline_.page != nullptr};
  switch (target.page) {
    case Page::Runs:
      return runs_page(context, target.query);
    case Page::Trends:
      return trends_page(context, target.query);
    case Page::Compare:
      return at_its_turn([&] { return compare_page(context, target.query); });
    case Page::Sweeps:
      return sweeps_page(context);
    case Page::Sweep:
    case Page::SweepJob: {
      const ListedSweep* sweep = snapshot->find_sweep(target.id);
      if (sweep == nullptr) {
        return problem_page(Error(ErrorKind::NotFound, "there is no sweep '" + target.id + "'"));
      }
      if (target.page == Page::SweepJob) {
        // Reports of sweeps link to those of their jobs: `3/report.html`.
        return redirect_to(
            run_address(target.id + "/" + fs::path(target.path).parent_path().string()));
      }
      auto page = sweep_page(context, *sweep);
      if (!page) return problem_page(page.error());
      page->policy = report_policy_;
      return std::move(*page);
    }
    default:
      return run_page(target, context);
  }
}

}  // namespace profline::serve
