
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "config/overrides/internal/decimal.h"
#include "config/overrides/override.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

using Texts = std::vector<std::string>;

Error sweep_error(const Override& sweep, const char* reason, const std::string& message) {
  return sweep.error(message, sweep.value->column()).with_reason(reason);
}

Error too_large(const Override& sweep, std::size_t at_most) {
  return sweep_error(sweep, "sweep_too_large",
                     "the sweep has more than " + std::to_string(at_most) + " items");
}

/// Counts from start to stop. Integers count exactly; if one of the three is a float, it counts in
/// decimals of 28 digits, so that range(0,0.3,0.1) has 0.1 and 0.2 and not 0.30000000000000004.
class RangeCounter {
 public:
  explicit RangeCounter(const RangeSweep& range)
      : next_(range.start),
        stop_(range.stop),
        step_(range.step),
        floats_(range.start.is_float() || range.stop.is_float() || range.step.is_float()) {}

  bool has_step() const { return !step_.is_zero(); }
  bool done() const {
    const int order = next_.compare(stop_);
    return step_.is_negative() ? order <= 0 : order >= 0;
  }
  std::string take() {
    std::string out = text();
    // An infinite start never moves, an infinite step reaches the end at once.
    if (step_.is_infinite()) {
      next_ = stop_;
    } else if (!next_.is_infinite()) {
      next_ = next_.plus(step_);
      if (floats_) next_ = next_.rounded();
    }
    return out;
  }

 private:
  std::string text() const {
    if (floats_) return python_repr(next_.to_double());
    const Node number = next_.to_integer();
    return number.is_int() ? std::to_string(number.as_int()) : number.as_big_int();
  }

  Decimal next_, stop_, step_;
  bool floats_;
};

Result<Texts> range_items(const Override& sweep, const RangeSweep& range, std::size_t at_most) {
  if (is_nan(range.start) || is_nan(range.stop) || is_nan(range.step)) {
    return sweep_error(sweep, "invalid_range", "a range cannot count with nan");
  }
  RangeCounter counter(range);
  if (!counter.has_step()) {
    return sweep_error(sweep, "invalid_range", "the step of a range must not be 0");
  }
  Texts out;
  while (!counter.done()) {
    if (out.size() == at_most) return too_large(sweep, at_most);
    out.push_back(counter.take());
  }
  return out;
}

Result<Texts> choice_items(const Override& sweep, const ChoiceSweep& choice, std::size_t at_most) {
  if (choice.items.size() > at_most) return too_large(sweep, at_most);
  Texts out;
  for (const OverrideValue& item : choice.items) {
    auto text = print_value(item);
    if (!text) {
      return sweep.error("a choice cannot contain another sweep", item.column())
          .with_reason("validation");
    }
    out.push_back(*std::move(text));
  }
  return out;
}

bool matches_one(const std::string& name, const std::vector<OverrideValue>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const OverrideValue& pattern) {
    if (const auto* quoted = pattern.get<QuotedString>()) {
      return matches_pattern(name, quoted->text);
    }
    const auto* scalar = pattern.get<Node>();
    return scalar != nullptr && scalar->is_string() && matches_pattern(name, scalar->as_string());
  });
}

Result<Texts> glob_items(const Override& sweep, const GlobSweep& glob,
                         const SweepServices& services, std::size_t at_most) {
  if (!services.group_options) {
    return sweep_error(sweep, "sweep_unsupported", "a glob needs the options of a config group");
  }
  Texts out;
  for (std::string& name : PL_TRY(services.group_options(sweep.key))) {
    if (!matches_one(name, glob.include) || matches_one(name, glob.exclude)) continue;
    if (out.size() == at_most) return too_large(sweep, at_most);
    out.push_back(std::move(name));
  }
  return out;
}

void shuffle(Texts& items, const RandomBelow& random_below) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_below(i)]);
}

/// `key=item` for each item of an override; one if it is not a sweep.
Result<Texts> alternatives(const Override& override, const SweepServices& services) {
  Texts out;
  if (override.is_sweep()) {
    out = PL_TRY(sweep_items(override, services));
  } else {
    // A deletion without a value is written with null, which has the same effect.
    auto text = print_value(override.value.value_or(OverrideValue()));
    if (!text) {
      return sweep_error(override, "validation", "a list or dict cannot contain a sweep");
    }
    out.push_back(*std::move(text));
  }
  const std::string key = override.key_element() + "=";
  for (std::string& item : out) item.insert(0, key);
  return out;
}

Result<std::size_t> job_count(const std::vector<Texts>& lists) {
  std::size_t count = 1;
  bool too_many = false;
  for (const Texts& list : lists) {
    if (list.empty()) return std::size_t{0};
    too_many = too_many || count > kMaxSweepJobs / list.size();
    if (!too_many) count *= list.size();
  }
  if (!too_many) return count;
  return Error(ErrorKind::Config,
               "the sweeps together make more than " + std::to_string(kMaxSweepJobs) + " jobs")
      .with_reason("sweep_too_large");
}

/// Job `number` of all combinations, with the last list varying fastest.
Job combination(const std::vector<Texts>& lists, std::size_t number) {
  Job out(lists.size());
  for (std::size_t i = lists.size(); i-- > 0;) {
    out[i] = lists[i][number % lists[i].size()];
    number /= lists[i].size();
  }
  return out;
}

}  // namespace

Result<Texts> sweep_items(const Override& sweep, const SweepServices& services,
                          std::size_t at_most) {
  if (const auto* glob = sweep.value->get<GlobSweep>()) {
    return glob_items(sweep, *glob, services, at_most);
  }
  Texts out;
  bool shuffled = false;
  if (const auto* choice = sweep.value->get<ChoiceSweep>()) {
    out = PL_TRY(choice_items(sweep, *choice, at_most));
    shuffled = choice->shuffle;
  } else if (const auto* range = sweep.value->get<RangeSweep>()) {
    out = PL_TRY(range_items(sweep, *range, at_most));
    shuffled = range->shuffle;
  } else {
    return sweep_error(sweep, "sweep_unsupported",
                       "an interval has no items to count: use range() or choice()");
  }
  if (shuffled) shuffle(out, services.random_below);
  return out;
}

Result<std::vector<Batch>> expand_sweeps(std::span<const Override> overrides,
                                         std::optional<std::int64_t> max_batch_size,
                                         const SweepServices& services) {
  if (max_batch_size && *max_batch_size <= 0) {
    return Error(ErrorKind::Config,
                 "the size of a batch must be above 0, is " + std::to_string(*max_batch_size));
  }
  std::vector<Texts> lists;
  std::unordered_map<std::string, std::size_t> places;
  for (const Override& override : overrides) {
    Texts texts = PL_TRY(alternatives(override, services));
    const auto [place, is_new] = places.try_emplace(override.key_element(), lists.size());
    if (is_new) {
      lists.push_back(std::move(texts));
    } else {
      lists[place->second] = std::move(texts);
    }
  }
  const std::size_t count = PL_TRY(job_count(lists));
  const std::size_t size = max_batch_size ? static_cast<std::size_t>(*max_batch_size) : count;
  std::vector<Batch> batches;
  if (!max_batch_size) batches.emplace_back();  // one batch even without jobs
  for (std::size_t number = 0; number < count; ++number) {
    if (batches.empty() || batches.back().size() == size) batches.emplace_back();
    batches.back().push_back(combination(lists, number));
  }
  return batches;
}

}  // namespace profline::config
