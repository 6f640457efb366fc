#include <algorithm>
#include <memory>
#include <set>

#include "load/client/load_run.h"
#include "load/client/stream_reader.h"
#include "settings/load.h"

namespace profline::load {
namespace {

constexpr std::int64_t kStatusEveryNs = 500'000'000;
/// How long a server may take to close a stream after `[DONE]`.
constexpr std::int64_t kLingerNs = kSecondNs;
/// How long a run that ends early waits for the answers to what it has sent.
constexpr std::int64_t kDrainNs = 2 * kSecondNs;
/// A closed loop does not repeat requests that fail at once any faster than this.
constexpr std::int64_t kPauseNs = 50'000'000;

class Generation {
 public:
  Generation(HttpLoop& loop, const LoadPlan& plan, const GeneratorHooks& hooks)
      : loop_(loop), plan_(plan), hooks_(hooks) {}

  GeneratedLoad run();

 private:
  bool is_open() const { return !plan_.due_ns.empty(); }
  bool may_send_more(std::int64_t now) const;
  void send_what_is_due(std::int64_t now);
  void send(std::int64_t due_ns);
  void collect(std::int64_t now);
  void keep(Outcome outcome);
  void end_early(std::int64_t now);
  void show_status(std::int64_t now);
  std::int64_t next_wake(std::int64_t now) const;
  std::uint64_t overdue(std::int64_t now) const;

  HttpLoop& loop_;
  const LoadPlan& plan_;
  const GeneratorHooks& hooks_;
  GeneratedLoad load_;
  std::vector<std::unique_ptr<StreamReader>> readers_;
  std::multiset<std::int64_t> free_slots_;  // of a closed loop: when each may be used again
  std::uint64_t next_ = 0;
  std::int64_t start_ns_ = 0;
  std::optional<std::int64_t> measured_since_ns_;
  std::uint64_t ended_ = 0;
  std::uint64_t warmed_up_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t bad_ = 0;
  std::int64_t status_due_ns_ = 0;
  std::uint64_t ended_at_status_ = 0;
  std::int64_t status_ns_ = 0;
  std::int64_t drained_ns_ = 0;
  bool is_finishing_ = false;
  LatencyHistogram ttft_;
};

bool Generation::may_send_more(std::int64_t now) const {
  if (load_.ended_early || load_.interrupted || is_finishing_) return false;
  if (is_open()) return next_ < plan_.due_ns.size();
  const Extent& extent = plan_.extent;
  if (next_ >= settings::kMostImages) return false;
  if (extent.requests) return next_ < std::uint64_t{extent.warmup} + *extent.requests;
  if (!measured_since_ns_) return true;
  const auto elapsed = static_cast<double>(now - *measured_since_ns_) / kSecondNs;
  return elapsed < extent.seconds.value_or(0);
}

void Generation::send(std::int64_t due_ns) {
  const std::uint64_t id = next_++;
  const PlannedRequest planned = plan_.request(id);
  Outcome outcome;
  outcome.id = id;
  outcome.measured = id >= plan_.extent.warmup;
  outcome.due_ns = due_ns;
  outcome.prompt = planned.prompt;
  outcome.sent_ns = monotonic_ns();
  if (outcome.measured && !measured_since_ns_) measured_since_ns_ = outcome.sent_ns;
  if (readers_.size() >= settings::kMostInFlight) {
    outcome.end_ns = outcome.sent_ns;
    outcome.failure = Failure{"client_limit", "too many requests were in flight already"};
    keep(std::move(outcome));
    return;
  }
  readers_.push_back(std::make_unique<StreamReader>(
      std::move(outcome),
      StreamReader::Rule{StreamReader::most_bytes(planned.output_tokens), plan_.keep_text}));
  loop_.start(planned.http, *readers_.back());
}

void Generation::send_what_is_due(std::int64_t now) {
  if (is_open()) {
    while (may_send_more(now) && start_ns_ + plan_.due_ns[next_] <= now) {
      send(start_ns_ + plan_.due_ns[next_]);
      now = monotonic_ns();
    }
    return;
  }
  while (!free_slots_.empty() && *free_slots_.begin() <= now && may_send_more(now)) {
    const std::int64_t due = *free_slots_.begin();
    free_slots_.erase(free_slots_.begin());
    send(due);
    now = monotonic_ns();
  }
}

void Generation::keep(Outcome outcome) {
  if (hooks_.progress) {
    hooks_.progress((outcome.measured ? "done " : "warm ") + std::to_string(outcome.due_ns) + ' ' +
                    std::to_string(outcome.end_ns) + (outcome.succeeded() ? " ok" : " failed"));
  }
  if (outcome.measured) {
    ++ended_;
    errors_ += outcome.succeeded() ? 0U : 1U;
    bad_ += is_good(outcome, is_open(), plan_.slo) ? 0U : 1U;
    if (const auto latencies = latencies_of(outcome, is_open())) {
      constexpr double kMs = 1e-6;
      ttft_.add(static_cast<double>(latencies->ttft_ns) * kMs);
    }
  } else {
    ++warmed_up_;
  }
  load_.observation.outcomes.push_back(std::move(outcome));
}

void Generation::collect(std::int64_t now) {
  const bool some_ended = loop_.in_flight() < readers_.size();
  if (!some_ended && now < status_due_ns_)
    return;  // streams that linger can wait for the next turn
  for (auto& reader : readers_) {
    const bool lingers =
        !reader->has_ended() && reader->is_complete() && now - reader->outcome().end_ns > kLingerNs;
    if (lingers) loop_.cancel(*reader);
    if (!reader->has_ended()) continue;
    Outcome outcome = reader->take();
    reader.reset();
    const bool failed_at_once = !outcome.succeeded() && now - outcome.sent_ns < kPauseNs;
    free_slots_.insert(failed_at_once ? outcome.sent_ns + kPauseNs : now);
    keep(std::move(outcome));
  }
  std::erase(readers_, nullptr);
}

/// Requests in flight that are bad already: no token within the SLO.
std::uint64_t Generation::overdue(std::int64_t now) const {
  if (!plan_.slo.ttft_ms) return 0;
  constexpr double kMs = 1e6;
  const auto most = static_cast<std::int64_t>(*plan_.slo.ttft_ms * kMs);
  return static_cast<std::uint64_t>(
      std::count_if(readers_.begin(), readers_.end(), [&](const auto& reader) {
        const Outcome& outcome = reader->outcome();
        return outcome.measured && outcome.events.empty() && now - outcome.due_ns > most;
      }));
}

void Generation::end_early(std::int64_t now) {
  if (hooks_.finishing && hooks_.finishing()) is_finishing_ = true;
  if (hooks_.stopping()) load_.interrupted = true;
  const bool is_missed = plan_.most_bad && bad_ + overdue(now) > *plan_.most_bad;
  if (is_missed && !load_.ended_early) {
    load_.ended_early = true;
    drained_ns_ = now + kDrainNs;
  }
  if (load_.interrupted || (load_.ended_early && now >= drained_ns_)) {
    loop_.cancel_all();
    collect(now);
  }
}

std::int64_t Generation::next_wake(std::int64_t now) const {
  std::int64_t wake = status_due_ns_;
  if (is_open() && may_send_more(now)) wake = std::min(wake, start_ns_ + plan_.due_ns[next_]);
  if (!is_open() && !free_slots_.empty() && may_send_more(now)) {
    wake = std::min(wake, *free_slots_.begin());
  }
  if (plan_.most_bad) wake = std::min(wake, now + kPauseNs);
  return wake;
}

void Generation::show_status(std::int64_t now) {
  if (now < status_due_ns_) return;
  status_due_ns_ = now + kStatusEveryNs;
  LiveStatus status;
  status.done = ended_;
  const Extent& extent = plan_.extent;
  if (is_open()) {
    status.total = plan_.due_ns.size() - std::min<std::size_t>(extent.warmup, plan_.due_ns.size());
  } else if (extent.requests) {
    status.total = *extent.requests;
  }
  if (!is_open()) status.seconds = extent.seconds;
  const auto since = [&](std::int64_t ns) { return static_cast<double>(now - ns) / kSecondNs; };
  status.elapsed_s = measured_since_ns_ ? since(*measured_since_ns_) : 0;
  status.warming_up = warmed_up_;
  status.warmup = extent.warmup;
  const std::uint64_t all = ended_ + warmed_up_;
  if (const double passed = since(status_ns_); passed > 0) {
    status.per_second = static_cast<double>(all - ended_at_status_) / passed;
  }
  ended_at_status_ = all;
  status_ns_ = now;
  status.in_flight = readers_.size();
  status.errors = errors_;
  status.ttft_p50_ms = ttft_.quantile_ms(0.5);
  status.ttft_p99_ms = ttft_.quantile_ms(0.99);
  hooks_.status(status);
}

GeneratedLoad Generation::run() {
  loop_.begin_account();
  start_ns_ = monotonic_ns();
  status_ns_ = start_ns_;
  status_due_ns_ = start_ns_ + kStatusEveryNs;
  for (std::uint32_t i = 0; !is_open() && i < plan_.concurrency; ++i) free_slots_.insert(start_ns_);
  if (hooks_.progress) hooks_.progress("begin " + std::to_string(start_ns_));
  std::int64_t now = start_ns_;
  while (true) {
    send_what_is_due(now);
    if (readers_.empty() && !may_send_more(now)) break;
    loop_.step(next_wake(now));
    now = monotonic_ns();
    collect(now);
    end_early(now);
    show_status(now);
  }
  Observation& seen = load_.observation;
  seen.busy_share = loop_.busy_share();
  seen.kernel_times = loop_.has_kernel_times();
  seen.start_ns = start_ns_;
  seen.is_open = is_open();
  seen.concurrency = is_open() ? 0 : plan_.concurrency;
  std::sort(seen.outcomes.begin(), seen.outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.id < b.id; });
  return std::move(load_);
}

}  // namespace

GeneratedLoad generate(HttpLoop& loop, const LoadPlan& plan, const GeneratorHooks& hooks) {
  return Generation(loop, plan, hooks).run();
}

}  // namespace profline::load
