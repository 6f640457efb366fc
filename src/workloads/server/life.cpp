#include "workloads/server/life.h"

#include "base/figures.h"

namespace profline::server {
namespace {

constexpr double kSecondNs = 1e9;

Finding problem(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Tool};
}

std::string_view code_of(Phase phase) {
  switch (phase) {
    case Phase::Loading:
      return "server_died_loading";
    case Phase::Warming:
      return "server_died_in_warmup";
    case Phase::Window:
      return "server_died_in_window";
    case Phase::Loaded:
    case Phase::Closed:
    case Phase::Stopping:
      break;
  }
  return "server_died_under_load";
}

}  // namespace

std::string_view when_text(Phase phase) {
  switch (phase) {
    case Phase::Loading:
      return "while it was loading";
    case Phase::Warming:
      return "in warm-up";
    case Phase::Loaded:
      return "under load, before the window";
    case Phase::Window:
      return "in the window";
    case Phase::Closed:
      return "after the window";
    case Phase::Stopping:
      break;
  }
  return "when it was stopped";
}

Decision Life::stop(std::optional<Finding> finding) {
  phase_ = Phase::Stopping;
  return {Act::StopServer, std::move(finding)};
}

/// Ends the load before anything else, once.
Decision Life::end_load(Decision decision, const Sight& sight) {
  if (load_is_on_ && !sight.load_ended && !load_was_ended_) {
    load_was_ended_ = true;
    decision.act = Act::AbandonLoad;
  }
  return decision;
}

/// The server is gone, although nobody asked it to end.
Decision Life::after_end(const Sight& sight) {
  Decision decision{Act::Done};
  if (!end_was_reported_) {
    end_was_reported_ = true;
    decision.finding = problem(
        std::string(code_of(phase_)),
        "the server ended " + std::string(when_text(phase_)) + ": it " + sight.server_end,
        phase_ == Phase::Window ? "what was captured until then is kept; its output says more"
                                : "its output says more");
  }
  if (phase_ == Phase::Window) {
    decision.act = Act::CloseWindow;
    return decision;
  }
  return end_load(decision, sight);
}

Decision Life::loading(const Sight& sight) {
  if (sight.is_ready) {
    phase_ = Phase::Warming;
    load_is_on_ = true;
    return {Act::StartLoad};
  }
  const auto waited = std::chrono::nanoseconds(sight.now_ns - start_ns_);
  if (waited < rules_.ready_timeout) return {};
  return stop(
      problem("server_not_ready",
              "the server was not ready after " + duration(static_cast<double>(waited.count())) +
                  ": " + sight.why_not_ready,
              "give it longer with pipeline.workload.server.ready.timeout=SECONDS, or say how it "
              "shows that it is ready: pipeline.workload.server.ready.http, .tcp or .log"));
}

Decision Life::loaded(const Sight& sight) {
  if (phase_ == Phase::Warming && sight.is_warm) phase_ = Phase::Loaded;
  if (sight.load_ended) {
    std::optional<Finding> finding;
    if (!sight.load_failure.empty()) {
      finding =
          problem("load_failed",
                  "the load ended " + std::string(when_text(phase_)) + ": " + sight.load_failure,
                  "its output says more");
    } else if (rules_.has_window) {
      finding = problem(
          "window_not_opened",
          "the load ended before the window could open: it was not steady by then",
          "load it for longer, or open the window sooner: pipeline.workload.window.after=warmup");
    }
    return stop(std::move(finding));
  }
  if (!rules_.has_window || phase_ == Phase::Warming || !sight.load_began_ns) return {};
  const bool may_open =
      rules_.window.after == settings::WindowAfter::Warmup ? sight.is_warm : sight.is_steady;
  if (may_open) return {Act::OpenWindow};
  const double loaded_s = static_cast<double>(sight.now_ns - *sight.load_began_ns) / kSecondNs;
  if (loaded_s < rules_.window.patience) return {};
  return {Act::OpenWindow, Finding{Severity::Warning, "load_not_steady",
                                   "the window was opened although latencies still change after " +
                                       duration(loaded_s * kSecondNs) + " of load",
                                   "wait longer with pipeline.workload.window.patience=SECONDS"}};
}

Decision Life::closed(const Sight& sight) {
  if (sight.load_ended) {
    std::optional<Finding> finding;
    if (!sight.load_failure.empty()) {
      finding = Finding{Severity::Warning, "load_failed",
                        "the load failed after the window: " + sight.load_failure,
                        "its output says more"};
    }
    return stop(std::move(finding));
  }
  if (load_was_ended_) return {};
  load_was_ended_ = true;
  return {Act::FinishLoad};
}

/// A server that ends fails its load first, and takes a moment to be gone.
bool Life::may_be_ending(const Sight& sight) {
  constexpr std::int64_t kMomentNs = 1'000'000'000;
  if (!load_is_on_ || load_was_ended_ || sight.load_failure.empty()) return false;
  if (!load_failed_ns_) load_failed_ns_ = sight.now_ns;
  return sight.now_ns - *load_failed_ns_ < kMomentNs;
}

Decision Life::next(const Sight& sight) {
  if (phase_ == Phase::Stopping) {
    return {Act::Done};  // it did not end when it was asked to
  }
  if (!sight.server_end.empty()) return after_end(sight);
  if (sight.is_interrupted) {
    if (phase_ == Phase::Window) return {Act::CloseWindow};
    const Decision ending = end_load({}, sight);
    return ending.act != Act::Wait ? ending : stop({});
  }
  if (may_be_ending(sight)) return {};
  switch (phase_) {
    case Phase::Loading:
      return loading(sight);
    case Phase::Warming:
    case Phase::Loaded:
      return loaded(sight);
    case Phase::Window: {
      const double open_s = static_cast<double>(sight.now_ns - open_ns_) / kSecondNs;
      if (sight.load_ended) {
        return {Act::CloseWindow,
                problem("load_ended_in_window",
                        "the load ended in the window: " + (sight.load_failure.empty()
                                                                ? "it has no more requests"
                                                                : sight.load_failure),
                        "a trace or another load generator must last beyond the window")};
      }
      return {open_s >= rules_.window.seconds ? Act::CloseWindow : Act::Wait};
    }
    case Phase::Closed:
      return closed(sight);
    case Phase::Stopping:
      break;
  }
  return {Act::Done};
}

void Life::window_opened(std::int64_t at_ns) {
  phase_ = Phase::Window;
  open_ns_ = at_ns;
}

void Life::window_refused() {
  phase_ = Phase::Closed;
}

void Life::window_closed() {
  phase_ = Phase::Closed;
}

}  // namespace profline::server
