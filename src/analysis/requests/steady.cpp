#include "analysis/requests/steady.h"

#include <algorithm>
#include <numeric>

#include "base/figures.h"

namespace profline::requests {
namespace {

using statistics::OneTime;
using statistics::OneTimeCost;
using statistics::Steadiness;
using statistics::SteadyState;
using Indices = std::vector<std::size_t>;

/// One-time costs of a part count if they are at least this share of the phase around it; those of
/// steps, if they are at least this share of the time of all steps.
constexpr double kWorthMentioning = 0.01;
/// A phase below this share of a request says nothing about the request.
constexpr double kMatters = 0.05;
/// A mark of the workload counts for a phase that takes this much longer than usual.
constexpr double kMarkedFrom = 1.05;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return statistics::quantile(values, 0.5);
}

bool contains(const Indices& indices, std::size_t index) {
  return std::binary_search(indices.begin(), indices.end(), index);
}

/// Which of a request's facts a phase depends on.
enum class Kind : std::uint8_t { Host, Pass, Steps };

Kind kind_of(bool is_host, bool has_steps) {
  return is_host ? Kind::Host : has_steps ? Kind::Steps : Kind::Pass;
}

/// Identifies the shape that kernels and graphs are prepared for: requests of the same shape reuse
/// what the first one prepared.
std::string shape_of(const Request& request, Kind kind) {
  const auto text = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "";
  };
  const std::string batch = '\n' + text(request.batch);
  switch (kind) {
    case Kind::Host:
      return request.text(kImageSizeAttribute) + batch;
    case Kind::Steps:  // a step computes one token, whatever the length of its prompt
      return batch;
    case Kind::Pass:
      break;
  }
  return text(request.prompt_tokens) + '\n' + request.text(kShapeAttribute) + batch;
}

/// What a phase's time may grow with; 0: not known.
double work_of(const Request& request, bool has_steps) {
  const auto prompt = static_cast<double>(request.prompt_tokens.value_or(0));
  const auto made = static_cast<double>(request.new_tokens.value_or(0));
  const auto batch = static_cast<double>(request.batch.value_or(1));
  return prompt > 0 ? (has_steps ? prompt + made / 2 : prompt) * batch : 0;
}

bool is_marked(const Request& request) {
  const auto found = request.attributes.find(kOneTimeAttribute);
  return found != request.attributes.end() && found->second.is_list() &&
         !found->second.as_list().empty();
}

/// One value per request that has the phase.
struct RequestSeries {
  std::vector<double> values = {};
  Indices requests = {};

  SteadyState state(std::span<const Request> all, const PhaseInfo& phase,
                    std::size_t examined) const {
    const Kind kind = kind_of(phase.is_host, phase.repeats);
    std::map<std::string, std::size_t> known;
    Indices shapes;
    Indices marked;
    std::vector<double> work;
    const double usual = values.empty() ? 0 : median(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Request& request = all[requests[i]];
      shapes.push_back(known.try_emplace(shape_of(request, kind), known.size()).first->second);
      const double amount = work_of(request, phase.repeats);
      if (amount > 0) work.push_back(amount);
      if (is_marked(request) && values[i] >= kMarkedFrom * usual) marked.push_back(i);
    }
    if (work.size() < values.size()) work.clear();
    return statistics::steady_state(
        values, {.shapes = shapes, .work = work, .marked = marked, .examined = examined});
  }
};

/// All steps of a phase, request after request.
struct StepSeries {
  std::vector<double> values = {};
  Indices requests = {};  ///< of each value
  Indices places = {};    ///< of each value in its request

  StepSeries(std::span<const Request> all, std::string_view path) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Phase* const phase = all[i].find_phase(path);
      if (phase == nullptr || !phase->steps_ns) continue;
      for (std::size_t place = 0; place < phase->steps_ns->size(); ++place) {
        values.push_back(static_cast<double>((*phase->steps_ns)[place]));
        requests.push_back(i);
        places.push_back(place);
      }
    }
  }

  /// Steps are compared with others of their request. A slow first step that occurs in more than
  /// one request is not a one-time cost.
  SteadyState state(std::size_t examined) const {
    SteadyState state =
        statistics::steady_state(values, {.shapes = requests, .grows = true, .examined = examined});
    const auto starts = std::count_if(state.one_time.begin(), state.one_time.end(),
                                      [&](const OneTimeCost& cost) { return is_start(cost); });
    std::erase_if(state.one_time, [&](OneTimeCost& cost) {
      if (!is_start(cost)) return false;
      if (cost.reason == OneTime::FirstUse) cost.reason = OneTime::Event;
      if (starts < 2) return false;
      state.recurring.push_back(cost.index);
      return true;
    });
    if (starts > 1) state.period.reset();
    return state;
  }
  bool is_start(const OneTimeCost& cost) const {
    return cost.reason != OneTime::Marked && places[cost.index] == 0;
  }
};

/// How many series a run has: the times of each phase, and the steps of those that repeat.
std::size_t examined_in(const PhaseTree& tree) {
  std::size_t series = 0;
  for (const PhaseInfo& phase : tree.phases()) {
    if (!phase.repeats) ++series;
    if (phase.repeats && phase.is_outermost()) series += 2;
  }
  return std::max<std::size_t>(series, 1);
}

}  // namespace

/// Finds what is left out of one outermost phase.
class SteadyPart::Search {
 public:
  Search(std::span<const Request> requests, const PhaseTree& tree, const PhaseInfo& phase)
      : requests_(requests), tree_(tree), phase_(phase), examined_(examined_in(tree)) {
    left_out_.requests.resize(requests.size());
    left_out_.steps.resize(requests.size());
  }

  LeftOut run() {
    if (phase_.repeats) find_steps();
    find_requests();
    for (const PhaseInfo& part : tree_.phases()) {
      if (tree_.is_inside(part, phase_)) find_in_part(part);
    }
    return std::move(left_out_);
  }
  std::vector<OneTimeCosts> take_costs() { return std::move(costs_); }

 private:
  void add_cost(const std::string& path, bool of_steps, OneTime reason, double ns,
                double typical_ns) {
    auto known = std::find_if(costs_.begin(), costs_.end(), [&](const OneTimeCosts& one) {
      return one.path == path && one.of_steps == of_steps && one.reason == reason;
    });
    if (known == costs_.end()) {
      known = costs_.insert(known, OneTimeCosts{path, of_steps, reason});
    }
    ++known->count;
    known->ns += ns;
    known->typical_ns += typical_ns;
  }

  void set_patterns(const SteadyState& state, const std::vector<double>& values) {
    PhaseSteadiness& steadiness = left_out_.steadiness;
    double all = 0;
    for (const std::size_t i : state.recurring) all += values[i];
    if (all < kWorthMentioning * sum(values)) return;
    steadiness.recurring = state.recurring.size();
    steadiness.recurring_ns = all / static_cast<double>(state.recurring.size());
    steadiness.period = state.period;
  }

  /// Single slow steps among thousands change nothing and are not worth a line.
  void find_steps() {
    const StepSeries steps(requests_, phase_.path);
    if (steps.values.empty()) return;
    const SteadyState state = steps.state(examined_);
    left_out_.steadiness.verdict = state.verdict;
    set_patterns(state, steps.values);
    double excess = 0;
    for (const OneTimeCost& cost : state.one_time)
      excess += steps.values[cost.index] - cost.typical;
    if (excess < kWorthMentioning * sum(steps.values)) return;
    for (const OneTimeCost& cost : state.one_time) {
      left_out_.steps[steps.requests[cost.index]].push_back(steps.places[cost.index]);
      add_cost(phase_.path, true, cost.reason, steps.values[cost.index], cost.typical);
    }
  }

  RequestSeries series_of(std::string_view path) const {
    RequestSeries series;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const PhaseTime time = time_of(requests_[i], path, left_out_.steps[i]);
      if (time.units == 0) continue;
      series.values.push_back(time.ns / time.units);
      series.requests.push_back(i);
    }
    return series;
  }

  void find_requests() {
    const RequestSeries series = series_of(phase_.path);
    if (series.values.empty()) return;
    const SteadyState state = series.state(requests_, phase_, examined_);
    // Many steps in a few requests are as informative as many requests.
    if (!phase_.repeats || state.verdict != Steadiness::TooShort) {
      left_out_.steadiness.verdict = state.verdict;
    }
    left_out_.steadiness.levels = state.levels;
    if (!phase_.repeats) set_patterns(state, series.values);
    const Indices steady = state.steady(series.values.size());
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (!contains(steady, i)) left_out_.requests[series.requests[i]] = true;
    }
    for (const OneTimeCost& cost : state.one_time) {
      const double units = units_of(series.requests[cost.index]);
      add_cost(phase_.path, false, cost.reason, series.values[cost.index] * units,
               cost.typical * units);
    }
    usual_ns_ = median(series.values);
  }

  /// Finds costs in a part that are too small to stand out in the whole phase, but large enough to
  /// matter.
  void find_in_part(const PhaseInfo& part) {
    const RequestSeries series = series_of(part.path);
    if (part.repeats || series.values.empty()) return;
    const SteadyState state = series.state(requests_, part, examined_);
    std::vector<const OneTimeCost*> found;
    for (const OneTimeCost& cost : state.one_time) {
      const double excess = series.values[cost.index] - cost.typical;
      const bool is_known = left_out_.requests[series.requests[cost.index]];
      if (!is_known && excess >= kWorthMentioning * usual_ns_) found.push_back(&cost);
    }
    const auto gone = static_cast<std::size_t>(
        std::count(left_out_.requests.begin(), left_out_.requests.end(), true));
    if ((gone + found.size()) * 2 > requests_.size()) return;  // too little would be left
    for (const OneTimeCost* const cost : found) {
      left_out_.requests[series.requests[cost->index]] = true;
      add_cost(part.path, false, cost->reason, series.values[cost->index], cost->typical);
    }
  }

  double units_of(std::size_t request) const {
    return time_of(requests_[request], phase_.path, left_out_.steps[request]).units;
  }

 public:
  /// Without the given steps. A request without phases is its only phase.
  static PhaseTime time_of(const Request& request, std::string_view path, const Indices& without) {
    if (path.empty()) return {1, static_cast<double>(request.ns)};
    PhaseTime time = phase_time(request, path);
    if (without.empty() || time.units == 0) return time;
    const Phase& phase = *request.find_phase(path);
    for (const std::size_t place : without) {
      time.ns -= static_cast<double>((*phase.steps_ns)[place]);
      time.units -= 1;
    }
    return time;
  }

 private:
  std::span<const Request> requests_;
  const PhaseTree& tree_;
  const PhaseInfo& phase_;
  std::size_t examined_ = 0;
  LeftOut left_out_;
  std::vector<OneTimeCosts> costs_;
  double usual_ns_ = 0;
};

SteadyPart::SteadyPart(std::span<const Request> requests, const PhaseTree& tree)
    : requests_(requests) {
  if (requests.empty()) return;
  for (const PhaseInfo& phase : tree.phases()) {
    if (phase.is_outermost()) add(tree, phase);
  }
  if (tree.phases().empty()) add(tree, PhaseInfo());
}

void SteadyPart::add(const PhaseTree& tree, const PhaseInfo& outermost) {
  Search search(requests_, tree, outermost);
  LeftOut& left_out = phases_[outermost.path] = search.run();
  for (OneTimeCosts& costs : search.take_costs()) one_time_.push_back(std::move(costs));
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const double units = Search::time_of(requests_[i], outermost.path, {}).units;
    left_out.steadiness.measured += static_cast<std::uint64_t>(units);
    left_out.steadiness.steady += static_cast<std::uint64_t>(time(i, outermost.path).units);
  }
}

const SteadyPart::LeftOut* SteadyPart::around(std::string_view path) const {
  for (std::string_view outer = path;;) {
    const auto found = phases_.find(outer);
    if (found != phases_.end()) return &found->second;
    const std::size_t slash = outer.rfind('/');
    if (slash == std::string_view::npos) return nullptr;
    outer = outer.substr(0, slash);
  }
}

const PhaseSteadiness* SteadyPart::find(std::string_view path) const {
  const LeftOut* const found = around(path);
  return found == nullptr ? nullptr : &found->steadiness;
}

std::vector<std::size_t> SteadyPart::steps_left_out(std::size_t request,
                                                    std::string_view path) const {
  const auto found = phases_.find(path);
  return found == phases_.end() ? Indices() : found->second.steps[request];
}

PhaseTime SteadyPart::time(std::size_t request, std::string_view path) const {
  const LeftOut* const left_out = around(path);
  if (left_out == nullptr || left_out->requests[request]) return {};
  return Search::time_of(requests_[request], path, steps_left_out(request, path));
}

PhaseTime SteadyPart::time(std::string_view path) const {
  PhaseTime all;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const PhaseTime one = time(i, path);
    all.units += one.units;
    all.ns += one.ns;
  }
  return all;
}

double SteadyPart::whole_ns(std::string_view path) const {
  const PhaseSteadiness* const steadiness = find(path);
  if (steadiness == nullptr || steadiness->steady == 0) return 0;
  // Parts are scaled like the phase around them, so that they still add up to it.
  const double scale =
      static_cast<double>(steadiness->measured) / static_cast<double>(steadiness->steady);
  return time(path).ns * scale;
}

double SteadyPart::whole_ns() const {
  double all = 0;
  for (const auto& [path, left_out] : phases_) all += whole_ns(path);
  const std::uint64_t steady = steady_requests();
  double outside = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (steady == 0 || is_steady(i)) outside += outside_phases_ns(i);
  }
  const auto measured = static_cast<double>(requests_.size());
  return all + (steady == 0 ? outside : outside * measured / static_cast<double>(steady));
}

double SteadyPart::outside_phases_ns(std::size_t request) const {
  const Request& one = requests_[request];
  const bool has_phases = !phases_.empty() && !phases_.begin()->first.empty();
  if (one.source == RequestSource::Builtin || !has_phases) return 0;
  auto left = static_cast<double>(one.ns);
  for (const auto& [path, left_out] : phases_) {
    const Phase* const phase = one.find_phase(path);
    if (phase != nullptr) left -= static_cast<double>(phase->ns);
  }
  return std::max(left, 0.0);
}

std::optional<double> SteadyPart::typical_ns(std::size_t request, std::string_view path,
                                             std::size_t steps) const {
  const Phase* const phase = requests_[request].find_phase(path);
  if (phase == nullptr) return std::nullopt;
  const bool has_steps = phase->steps_ns.has_value();
  PhaseTime like = time(request, path);
  if (like.units > 0 && !has_steps) return like.ns;
  const Kind kind = kind_of(phase->host.value_or(false), has_steps);
  const std::string shape = shape_of(requests_[request], kind);
  const bool is_steady_itself = like.units > 0;
  for (std::size_t i = 0; !is_steady_itself && i < requests_.size(); ++i) {
    if (shape_of(requests_[i], kind) != shape) continue;
    const PhaseTime other = time(i, path);
    like.units += other.units;
    like.ns += other.ns;
  }
  if (like.units == 0) return std::nullopt;
  const double mean = like.ns / like.units;
  if (!has_steps) return mean;
  if (!is_steady_itself) return mean * static_cast<double>(steps);
  const Indices without = steps_left_out(request, path);
  double all = 0;
  for (std::size_t place = 0; place < steps; ++place) {
    all += contains(without, place) ? mean : static_cast<double>((*phase->steps_ns)[place]);
  }
  return all;
}

bool SteadyPart::is_steady(std::size_t request) const {
  return std::none_of(phases_.begin(), phases_.end(), [&](const auto& phase) {
    return phase.second.requests[request] || !phase.second.steps[request].empty();
  });
}

std::uint64_t SteadyPart::steady_requests() const {
  std::uint64_t steady = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) steady += is_steady(i) ? 1U : 0U;
  return steady;
}

Steadiness SteadyPart::verdict() const {
  if (requests_.size() < statistics::kEnoughToTell) return Steadiness::TooShort;
  const double matters = kMatters * whole_ns();
  const bool is_drifting = std::any_of(phases_.begin(), phases_.end(), [&](const auto& phase) {
    return phase.second.steadiness.verdict == Steadiness::Drifting &&
           whole_ns(phase.first) >= matters;
  });
  return is_drifting ? Steadiness::Drifting : Steadiness::Steady;
}

SteadyWindow steady_window(std::span<const Request> requests) {
  SteadyWindow window;
  window.total = requests.size();
  if (requests.empty()) {
    window.reason = "there are no requests";
    return window;
  }
  const PhaseTree tree(requests);
  const SteadyPart steady(requests, tree);
  const bool is_short = steady.verdict() == Steadiness::TooShort;
  const bool is_unsure = steady.verdict() != Steadiness::Steady;
  std::size_t run = 0;
  for (std::size_t i = is_unsure && requests.size() > 1 ? 1 : 0; i < requests.size(); ++i) {
    run = steady.is_steady(i) ? run + 1 : 0;
    if (run > window.count) window = {i + 1 - run, run, requests.size(), ""};
  }
  if (window.count == 0) window = {requests.size() - 1, 1, requests.size(), ""};
  const std::size_t costly = requests.size() - static_cast<std::size_t>(steady.steady_requests());
  if (is_short) {
    window.reason = "too short to tell: " + counted(requests.size(), "request");
    if (window.first > 0) window.reason += "; the first is treated as warm-up";
  } else if (steady.verdict() == Steadiness::Drifting) {
    window.reason = "the times still change from request to request";
  } else if (costly > 0) {
    window.reason = counted(costly, "request has", "requests have") + " one-time costs";
  } else {
    window.reason = "all requests are steady";
  }
  return window;
}

}  // namespace profline::requests
