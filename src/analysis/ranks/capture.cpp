#include "analysis/ranks/capture.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/kernels/canonical_name.h"
#include "analysis/ranks/internal/busy_time.h"
#include "analysis/ranks/internal/communication.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/transfers.h"
#include "base/figures.h"

namespace profline::ranks {
namespace {

using internal::Interval;
using internal::Intervals;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Collectives between two ranks: who waits for whom follows from the pair, not from all members.
bool is_pairwise(CollectiveKind kind) {
  return kind == CollectiveKind::Send || kind == CollectiveKind::Receive;
}

/// Whether an operator only starts or describes a collective.
bool describes_collective(std::string_view op) {
  return op == "record_param_comms" || op.starts_with("c10d::");
}

/// Which ranges are collectives: those of a back end on the host or, where neither such ranges nor
/// work of devices were recorded, those that the program named so.
class HostCollectives {
 public:
  explicit HostCollectives(const Timeline& timeline)
      : timeline_(timeline),
        counts_names_(timeline.work.empty() &&
                      std::none_of(timeline.ranges.begin(), timeline.ranges.end(),
                                   [&](const Range& range) { return is_mark(range); })) {}

  bool contains(const Range& range) const {
    return is_mark(range) ||
           (counts_names_ && internal::is_communication(timeline_.names.text(range.name)));
  }

 private:
  bool is_mark(const Range& range) const {
    return is_host_collective(timeline_.names.text(range.name));
  }

  const Timeline& timeline_;
  bool counts_names_;
};

/// Ranges that name parts of the program: neither collectives nor the profiler's steps.
class PhaseRanges {
 public:
  PhaseRanges(const Timeline& timeline, const HostCollectives& host, Names& phases)
      : timeline_(timeline), host_(host), attribution_(timeline::Attribution::of(timeline)) {
    const timeline::RangeLabels labels(timeline);
    std::map<std::pair<Names::Id, Names::Id>, Names::Id> known;
    for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
      const Range& range = timeline.ranges[row];
      const auto [entry, is_new] = known.try_emplace({range.name, range.domain}, 0);
      if (is_new && is_phase(range)) {
        const std::string& domain = timeline.names.text(range.domain);
        const std::string& label = labels.text(labels.of(range.name));
        entry->second = phases.id_of(domain.empty() ? label : domain + ":" + label);
      }
      phase_.push_back(entry->second);
      if (entry->second != 0 && attribution_.around(row) == timeline::kOutside) {
        outermost_.push_back(row);
      }
    }
    has_parts_.resize(timeline.ranges.size());
    for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
      const RowIndex whole = attribution_.innermost(attribution_.around(row));
      if (whole != kNoRow) has_parts_[whole] = true;
    }
  }

  /// The phase that work belongs to, from its launch.
  Names::Id of_work(const DeviceWork& work) const {
    if (work.launch == kNoRow) return around(work.start_ns);
    const Names::Id own = innermost(attribution_.of_work(work));
    return own != 0 ? own : around(timeline_.calls[work.launch].start_ns);
  }
  /// The phase that a range belongs to.
  Names::Id of_range(RowIndex range) const {
    const Names::Id own = innermost(attribution_.around(range));
    return own != 0 ? own : around(timeline_.ranges[range].start_ns);
  }
  /// By row of Timeline::ranges; 0: it is not a phase.
  Names::Id of(RowIndex range) const { return phase_[range]; }
  /// Whether a range is a phase without ranges inside.
  bool is_innermost(RowIndex range) const { return phase_[range] != 0 && !has_parts_[range]; }
  /// The innermost mark of a collective around the launch of work: `nccl:all_to_all`. kNoRow: none.
  RowIndex mark_of_work(const DeviceWork& work) const {
    RowIndex mark = kNoRow;
    if (work.launch == kNoRow) return mark;
    attribution_.each(attribution_.of_work(work), [&](RowIndex range) {
      const bool marks = marks_collective(timeline_.names.text(timeline_.ranges[range].name));
      if (mark == kNoRow && marks) mark = range;
    });
    return mark;
  }

 private:
  bool is_phase(const Range& range) const {
    const std::string& name = timeline_.names.text(range.name);
    return !name.empty() && !marks_collective(name) && !describes_collective(name) &&
           !host_.contains(range) && timeline_.names.text(range.domain) != "NCCL";
  }

  Names::Id innermost(timeline::ContextId context) const {
    Names::Id found = 0;
    attribution_.each(context, [&](RowIndex range) {
      if (found == 0) found = phase_[range];
    });
    return found;
  }

  /// Of the outermost ranges, on any thread.
  Names::Id around(std::int64_t when_ns) const {
    auto after = std::upper_bound(
        outermost_.begin(), outermost_.end(), when_ns,
        [&](std::int64_t when, RowIndex row) { return when < timeline_.ranges[row].start_ns; });
    constexpr int kMostLookedAt = 32;  // ranges of other threads may lie in between
    for (int i = 0; i < kMostLookedAt && after != outermost_.begin(); ++i) {
      --after;
      if (timeline_.ranges[*after].end_ns > when_ns) return phase_[*after];
    }
    return 0;
  }

  const Timeline& timeline_;
  const HostCollectives& host_;
  timeline::Attribution attribution_;
  std::vector<Names::Id> phase_;     // by range
  std::vector<bool> has_parts_;      // by range: whether ranges were opened in it
  std::vector<RowIndex> outermost_;  // in order of start_ns
};

/// Turns what a timeline says of collectives into visits.
class Visits {
 public:
  Visits(const Timeline& timeline, const PhaseRanges& phases, Capture& capture)
      : timeline_(timeline), phases_(phases), capture_(capture) {}

  /// The kernels of a collective are one visit.
  void add_kernels(const std::vector<bool>& is_collective) {
    std::vector<std::size_t> of_collective(timeline_.collectives.size(), kNone);
    for (const DeviceWork& work : timeline_.work) {
      if (work.kind != WorkKind::Kernel || !is_collective[work.name]) continue;
      if (work.collective == kNoRow) {
        add_undescribed(work);
        continue;
      }
      std::size_t& known = of_collective[work.collective];
      if (known == kNone) {
        const std::size_t before = capture_.visits.size();
        add(described(timeline_.collectives[work.collective], work));
        if (capture_.visits.size() > before) known = before;
        continue;
      }
      Visit& visit = capture_.visits[known];
      visit.end_ns = std::max(visit.end_ns, work.end_ns);
    }
  }

  /// Collectives of back ends on the host.
  void add_ranges(const HostCollectives& host) {
    for (RowIndex row = 0; row < timeline_.ranges.size(); ++row) {
      const Range& range = timeline_.ranges[row];
      const std::string& name = timeline_.names.text(range.name);
      if (!range.closed || !host.contains(range)) continue;
      Visit visit{.start_ns = range.start_ns, .end_ns = range.end_ns};
      visit.kind = collective_kind(name);
      visit.name = capture_.names.id_of(name);
      visit.phase = phases_.of_range(row);
      if (range.collective == kNoRow) {
        visit.communicator = communicator({"", "", 0});
      } else {
        describe(timeline_.collectives[range.collective], visit);
      }
      add(visit);
    }
  }

  void sort() {
    std::stable_sort(capture_.visits.begin(), capture_.visits.end(),
                     [](const Visit& a, const Visit& b) { return a.start_ns < b.start_ns; });
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void add(const Visit& visit) {
    if (is_pairwise(visit.kind)) {
      ++capture_.pairwise;
    } else {
      capture_.visits.push_back(visit);
    }
  }

  /// An all-to-all runs as sends and receives: which it is, the mark around its launch says. Its
  /// kernels are one visit.
  void add_undescribed(const DeviceWork& work) {
    Visit visit = kernel_alone(work);
    const RowIndex mark = is_pairwise(visit.kind) ? phases_.mark_of_work(work) : kNoRow;
    const std::string& name =
        timeline_.names.text(mark == kNoRow ? 0 : timeline_.ranges[mark].name);
    const CollectiveKind kind = collective_kind(name);
    if (kind == CollectiveKind::Unknown || is_pairwise(kind)) return add(visit);
    const auto [known, is_new] = of_mark_.try_emplace(mark, capture_.visits.size());
    if (!is_new) {
      Visit& whole = capture_.visits[known->second];
      whole.end_ns = std::max(whole.end_ns, visit.end_ns);
      return;
    }
    visit.kind = kind;
    visit.name = capture_.names.id_of(name);
    add(visit);
  }

  Visit described(const Collective& collective, const DeviceWork& work) {
    Visit visit{.start_ns = work.start_ns, .end_ns = work.end_ns};
    const Names& names = timeline_.names;
    describe(collective, visit);
    visit.name = capture_.names.id_of(names.text(collective.name));
    visit.kind = collective_kind(names.text(collective.name));
    if (visit.kind == CollectiveKind::Unknown) visit.kind = kind_of_kernel(names.text(work.name));
    visit.phase = phases_.of_work(work);
    return visit;
  }

  /// What and among whom, as far as it was recorded.
  void describe(const Collective& collective, Visit& visit) {
    const Names& names = timeline_.names;
    visit.bytes = collective.has_bytes ? timeline::message_bytes(collective) : 0;
    visit.sequence = collective.sequence;
    visit.dtype = capture_.names.id_of(names.text(collective.dtype));
    visit.communicator = communicator(
        {names.text(collective.group), names.text(collective.members), collective.ranks});
  }

  /// Nobody says which group it is of. Libraries and kinds do not mix on a stream in the same order
  /// on all ranks, so each name is a sequence of its own.
  Visit kernel_alone(const DeviceWork& work) {
    Visit visit{.start_ns = work.start_ns, .end_ns = work.end_ns};
    const auto [known, is_new] = kernels_.try_emplace(work.name);
    if (is_new) {
      const std::string& name = timeline_.names.text(work.name);
      known->second = {capture_.names.id_of(kernels::canonical_name(name).short_name),
                       kind_of_kernel(name)};
    }
    std::tie(visit.name, visit.kind) = known->second;
    visit.phase = phases_.of_work(work);
    visit.communicator = communicator({"", "", 0});
    return visit;
  }

  std::uint32_t communicator(const Communicator& wanted) {
    if (last_ < capture_.communicators.size() && capture_.communicators[last_] == wanted) {
      return last_;
    }
    const auto found =
        std::find(capture_.communicators.begin(), capture_.communicators.end(), wanted);
    last_ = static_cast<std::uint32_t>(found - capture_.communicators.begin());
    if (found == capture_.communicators.end()) capture_.communicators.push_back(wanted);
    return last_;
  }

  const Timeline& timeline_;
  const PhaseRanges& phases_;
  Capture& capture_;
  std::map<Names::Id, std::pair<Names::Id, CollectiveKind>> kernels_;
  std::map<RowIndex, std::size_t> of_mark_;  // the visit of its kernels
  std::uint32_t last_ = 0;
};

/// By id of a name: whether kernels of this name communicate.
std::vector<bool> collective_names(const Timeline& timeline, const kernels::Classifier& classes) {
  std::vector<bool> asked(timeline.names.size());
  std::vector<bool> found(timeline.names.size());
  for (const DeviceWork& work : timeline.work) {
    if (work.kind != WorkKind::Kernel) continue;
    if (!asked[work.name]) {
      asked[work.name] = true;
      found[work.name] =
          classes.class_of(kernels::canonical_name(timeline.names.text(work.name))) == "collective";
    }
    // A kernel that the framework describes is one, whatever its name.
    if (work.collective != kNoRow) found[work.name] = true;
  }
  return found;
}

/// Work of all devices by what it is.
internal::Activity device_activity(const Timeline& timeline,
                                   const std::vector<bool>& is_collective) {
  internal::Activity activity;
  for (const DeviceWork& work : timeline.work) {
    const std::int32_t device = work.stream == kNoRow ? 0 : timeline.streams[work.stream].device;
    internal::DeviceActivity& of_device = activity.device(device);
    const Interval when{work.start_ns, work.end_ns};
    if (work.kind == WorkKind::Copy || work.kind == WorkKind::Fill) {
      of_device.copies.push_back(when);
    } else if (work.kind == WorkKind::Kernel && is_collective[work.name]) {
      of_device.communication.push_back(when);
    } else {
      of_device.compute.push_back(when);
    }
  }
  return activity;
}

/// Operators compute. Where none were recorded, as under nsys, the program's innermost ranges do.
internal::Activity host_activity(const Timeline& timeline, const HostCollectives& collectives,
                                 const PhaseRanges& phases) {
  internal::Activity activity;
  internal::DeviceActivity& host = activity.device(-1);
  for (const Range& range : timeline.ranges) {
    if (collectives.contains(range)) {
      host.communication.push_back({range.start_ns, range.end_ns});
    }
  }
  if (timeline.operators.empty()) {
    for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
      if (!phases.is_innermost(row)) continue;
      host.compute.push_back({timeline.ranges[row].start_ns, timeline.ranges[row].end_ns});
    }
  }
  std::vector<std::int8_t> computes(timeline.names.size(), -1);
  for (const Operator& op : timeline.operators) {
    std::int8_t& known = computes[op.name];
    if (known < 0) {
      const std::string& name = timeline.names.text(op.name);
      known = static_cast<std::int8_t>(!describes_collective(name) && !marks_collective(name));
    }
    if (known == 1) host.compute.push_back({op.start_ns, op.end_ns});
  }
  return activity;
}

void add_phases(const Timeline& timeline, const PhaseRanges& phases,
                const internal::Activity& activity, Capture& capture) {
  struct Found {
    Intervals windows;
    std::uint64_t instances = 0;
  };
  std::map<Names::Id, Found> found;
  for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
    if (phases.of(row) == 0) continue;
    Found& phase = found[phases.of(row)];
    phase.windows.push_back({timeline.ranges[row].start_ns, timeline.ranges[row].end_ns});
    ++phase.instances;
  }
  std::vector<std::pair<std::int64_t, Names::Id>> longest;
  for (auto& [name, phase] : found) {
    internal::unite(phase.windows);
    longest.emplace_back(-internal::length_ns(phase.windows), name);
  }
  std::sort(longest.begin(), longest.end());
  constexpr std::size_t kMostPhases = 32;
  if (longest.size() > kMostPhases) longest.resize(kMostPhases);
  for (const auto& [length_ns, name] : longest) {
    const Found& phase = found[name];
    capture.phases.push_back(
        {capture.names.text(name), phase.instances, activity.time_in(phase.windows)});
  }
}

}  // namespace

CollectiveKind kind_of_kernel(std::string_view name) {
  const bool is_expert_parallel = contains(name, "deep_ep") || contains(name, "dpsk::ep");
  if (is_expert_parallel && (contains(name, "::dispatch") || contains(name, "::combine"))) {
    return CollectiveKind::AllToAll;
  }
  if (is_expert_parallel) return CollectiveKind::Unknown;
  // vLLM's and SGLang's own all-reduces.
  if (contains(name, "cross_device_reduce") || contains(name, "multimem_one_shot") ||
      contains(name, "two_shot")) {
    return CollectiveKind::AllReduce;
  }
  return collective_kind(name);
}

bool marks_collective(std::string_view range) {
  return is_host_collective(range) || range.starts_with("nccl:") ||
         range.starts_with("ncclGroup") ||
         (range.starts_with("nccl") && collective_kind(range) != CollectiveKind::Unknown);
}

Capture capture_of(const Timeline& timeline, const kernels::Classifier& classes) {
  Capture capture;
  capture.source = timeline.source;
  capture.tool = timeline.tool;
  capture.rank = timeline.rank;
  capture.world_size = timeline.world_size;
  if (timeline.unix_origin_ns > 0) capture.origin_ns = timeline.unix_origin_ns;
  if (!timeline.threads.empty()) capture.process = timeline.threads.front().process;
  capture.losses = timeline.reading.losses;
  const std::vector<bool> is_collective = collective_names(timeline, classes);
  const HostCollectives host(timeline);
  const PhaseRanges phases(timeline, host, capture.names);
  Visits visits(timeline, phases, capture);
  visits.add_kernels(is_collective);
  visits.add_ranges(host);
  visits.sort();
  capture.has_device_work = !timeline.work.empty();
  internal::Activity activity = capture.has_device_work ? device_activity(timeline, is_collective)
                                                        : host_activity(timeline, host, phases);
  activity.unite();
  capture.time = activity.time_in(Intervals{{timeline.begin_ns, timeline.end_ns}});
  add_phases(timeline, phases, activity, capture);
  return capture;
}

Result<std::vector<Capture>> read_captures(
    std::size_t count, const std::function<Result<std::vector<Timeline>>(std::size_t)>& read,
    const kernels::Classifier& classes, unsigned threads) {
  std::vector<std::optional<Result<std::vector<Capture>>>> results(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      Result<std::vector<Timeline>> timelines = read(i);
      if (!timelines) {
        results[i].emplace(std::move(timelines).error());
        continue;
      }
      std::vector<Capture> captures;
      for (const Timeline& timeline : *timelines) {
        captures.push_back(capture_of(timeline, classes));
      }
      results[i].emplace(std::move(captures));
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads && i < count; ++i) others.emplace_back(work);
    work();
  }
  std::vector<Capture> all;
  for (auto& result : results) {
    std::vector<Capture> captures = PL_TRY(std::move(*result));
    for (Capture& capture : captures) all.push_back(std::move(capture));
  }
  return all;
}

}  // namespace profline::ranks
