#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <semaphore>
#include <string>
#include <utility>

#include "catalog/catalog.h"
#include "process/interrupt.h"
#include "serve/access.h"
#include "serve/library.h"
#include "serve/response.h"
#include "serve/target.h"

/// `profline serve`: pages about the runs below some roots, for a browser on this machine. Reads,
/// and never writes.
namespace profline::serve {

struct Context;

/// Where `profline serve` listens unless --port says otherwise.
inline constexpr int kUsualPort = 8600;

/// A timeline over a whole capture: the page `/runs/ID/timeline`, and its data,
/// `/api/runs/ID/tiles/...`. Called from several threads.
struct TimelineView {
  std::function<Response(const catalog::KnownRun& run, const Target& target)> page;
  std::function<Response(const catalog::KnownRun& run, const Target& target)> tiles;
};

class Site {
 public:
  /// `interrupt` ends long computations.
  Site(catalog::Catalog catalog, AccessRules rules, const Interrupt& interrupt,
       TimelineView timeline = {});

  /// Answers a request; `address` is its target as it arrived. May be called from several threads.
  Response respond(Visitor visitor, std::string_view address);

 private:
  /// A page that takes long to make, until its run changes.
  struct MadePage {
    std::string run;
    std::string stamp;
    std::string body;
  };

  Response answer(const Target& target);
  Response run_page(const Target& target, const Context& context);
  Response report_of(const ListedRun& run, const Context& context);
  template <typename Make>
  Response at_its_turn(const Make& make);

  Library library_;
  AccessRules rules_;
  const Interrupt& interrupt_;
  TimelineView timeline_;
  std::string report_policy_;
  /// Reports and comparisons read a lot: this many at a time.
  static constexpr std::ptrdiff_t kAtOnce = 2;
  std::counting_semaphore<kAtOnce> turns_{kAtOnce};
  std::mutex made_mutex_;
  std::deque<MadePage> made_;  ///< newest last
};

}  // namespace profline::serve
