#include "analysis/timeline/attribution.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/strings.h"

namespace profline::timeline {

/// The single pass over ranges and calls in time order.
class Sweep {
 public:
  explicit Sweep(const Timeline& timeline) : timeline_(timeline), stacks_(timeline.threads.size()) {
    result_.contexts_.emplace_back();  // kOutside
    result_.of_call_.assign(timeline.calls.size(), kOutside);
    result_.around_.assign(timeline.ranges.size(), kOutside);
  }

  Attribution run() {
    const std::vector<RowIndex> opening = ranges_in_order();
    std::size_t next_range = 0;
    for (RowIndex call = 0; call < timeline_.calls.size(); ++call) {
      const HostCall& row = timeline_.calls[call];
      while (next_range < opening.size() &&
             timeline_.ranges[opening[next_range]].start_ns <= row.start_ns) {
        open(opening[next_range++]);
      }
      result_.of_call_[call] = current(row.thread, row.start_ns);
    }
    while (next_range < opening.size()) open(opening[next_range++]);
    return std::move(result_);
  }

 private:
  struct Open {
    RowIndex range;
    std::int64_t end_ns;
    std::int64_t first_end_ns;  // of this one and those below it
    ContextId context;
  };
  using Stack = std::vector<Open>;

  /// Of ranges that open together, the longest comes first: it encloses the others.
  std::vector<RowIndex> ranges_in_order() const {
    const std::vector<Range>& ranges = timeline_.ranges;
    std::vector<RowIndex> order(ranges.size());
    std::iota(order.begin(), order.end(), RowIndex{0});
    const auto before = [&](RowIndex a, RowIndex b) {
      if (ranges[a].start_ns != ranges[b].start_ns) return ranges[a].start_ns < ranges[b].start_ns;
      if (ranges[a].end_ns != ranges[b].end_ns) return ranges[a].end_ns > ranges[b].end_ns;
      return a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::sort(order.begin(), order.end(), before);
    }
    return order;
  }

  void open(RowIndex range) {
    const Range& row = timeline_.ranges[range];
    result_.around_[range] = current(row.thread, row.start_ns);
    if (row.thread != kNoRow) push(stacks_[row.thread], range);
  }

  void push(Stack& stack, RowIndex range) {
    const std::int64_t end_ns = timeline_.ranges[range].end_ns;
    const bool lowest = stack.empty();
    const ContextId below = lowest ? kOutside : stack.back().context;
    stack.push_back({range, end_ns, lowest ? end_ns : std::min(end_ns, stack.back().first_end_ns),
                     static_cast<ContextId>(result_.contexts_.size())});
    result_.contexts_.push_back({range, below});
  }

  /// The context of a thread at an instant; instants must not decrease.
  ContextId current(RowIndex thread, std::int64_t when_ns) {
    if (thread == kNoRow) return kOutside;
    Stack& stack = stacks_[thread];
    while (!stack.empty() && stack.back().end_ns <= when_ns) stack.pop_back();
    if (!stack.empty() && stack.back().first_end_ns <= when_ns) close_inside(stack, when_ns);
    return stack.empty() ? kOutside : stack.back().context;
  }

  /// A start/end range below the top has closed, so the ranges above it move to another stack.
  void close_inside(Stack& stack, std::int64_t when_ns) {
    const auto closed = [&](const Open& open) { return open.end_ns <= when_ns; };
    const auto lowest = std::find_if(stack.begin(), stack.end(), closed);
    std::vector<RowIndex> above;
    for (auto open = lowest; open != stack.end(); ++open) {
      if (!closed(*open)) above.push_back(open->range);
    }
    stack.erase(lowest, stack.end());
    for (const RowIndex range : above) push(stack, range);
  }

  const Timeline& timeline_;
  std::vector<Stack> stacks_;  // by thread
  Attribution result_;
};

Attribution Attribution::of(const Timeline& timeline) {
  return Sweep(timeline).run();
}

namespace {

/// What PyTorch appends to the name of an operator, and the kind of value that follows.
struct Suffix {
  std::string_view key;
  bool is_number;  // otherwise a list
};
constexpr std::array kSuffixes = {
    Suffix{", seq = ", true},         Suffix{", op_id = ", true},
    Suffix{", sizes = ", false},      Suffix{", input_op_ids = ", false},
    Suffix{", stashed seq = ", true}, Suffix{", seq=", true},
    Suffix{", stashed seq=", true},
};

bool is_value(std::string_view text, bool is_number) {
  return !text.empty() && (is_number ? is_digit(text.front()) : text.front() == '[');
}

/// `aten::to, op_id = 7` without everything from the first suffix on.
std::string_view without_suffixes(std::string_view name) {
  std::size_t end = name.size();
  for (const Suffix& suffix : kSuffixes) {
    const std::size_t at = name.find(suffix.key);
    if (at == std::string_view::npos || at == 0) continue;
    if (is_value(name.substr(at + suffix.key.size()), suffix.is_number)) end = std::min(end, at);
  }
  return name.substr(0, end);
}

}  // namespace

std::string range_label(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (name.starts_with(kStep) && name.size() > kStep.size() &&
      std::all_of(name.begin() + kStep.size(), name.end(), is_digit)) {
    return std::string(kStep) + '*';
  }
  return std::string(without_suffixes(name));
}

std::string range_label(const Timeline& timeline, const Range& range) {
  const std::string& domain = timeline.names.text(range.domain);
  std::string label = range_label(timeline.names.text(range.name));
  return domain.empty() ? label : domain + ":" + label;
}

RangeLabels::RangeLabels(const Timeline& timeline) : of_name_(timeline.names.size()) {
  std::vector<bool> known(timeline.names.size());
  for (const Range& range : timeline.ranges) {
    if (known[range.name]) continue;
    known[range.name] = true;
    of_name_[range.name] = labels_.id_of(range_label(timeline.names.text(range.name)));
  }
}

bool matches_range(std::string_view name, std::string_view pattern) {
  // First literally, because names may contain '*' and '?'.
  if (name == pattern || matches_wildcards(name, pattern)) return true;
  const std::string label = range_label(name);
  return label == pattern || matches_wildcards(label, pattern);
}

std::vector<bool> matching_ranges(const Timeline& timeline, std::string_view pattern) {
  std::vector<bool> known(timeline.names.size());
  std::vector<bool> matching(timeline.names.size());
  for (const Range& range : timeline.ranges) {
    if (known[range.name]) continue;
    known[range.name] = true;
    matching[range.name] = matches_range(timeline.names.text(range.name), pattern);
  }
  return matching;
}

std::vector<bool> contexts_in_ranges(const Timeline& timeline, const Attribution& attribution,
                                     std::string_view pattern) {
  const std::vector<bool> matching = matching_ranges(timeline, pattern);
  std::vector<bool> inside(attribution.context_count());
  for (ContextId id = 1; id < inside.size(); ++id) {
    // A context comes after what is below it.
    const Context& context = attribution.context(id);
    inside[id] = inside[context.below] || matching[timeline.ranges[context.range].name];
  }
  return inside;
}

}  // namespace profline::timeline
