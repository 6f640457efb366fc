#include "tools/ncu/units.h"

#include <algorithm>
#include <array>

namespace profline::ncu {
namespace {

struct Part {
  std::string base;
  double factor = 1;
  bool is_time = false;  // then the factor is how many make a second
};

struct Word {
  std::string_view text;
  double factor;
};

// How many make a second: whole numbers, so that whole ns stay whole.
constexpr std::array kTimes = {Word{"second", 1},    Word{"s", 1},         Word{"msecond", 1e3},
                               Word{"ms", 1e3},      Word{"usecond", 1e6}, Word{"us", 1e6},
                               Word{"nsecond", 1e9}, Word{"ns", 1e9}};
constexpr std::array kPrefixes = {Word{"K", 1e3}, Word{"M", 1e6}, Word{"G", 1e9}, Word{"T", 1e12},
                                  Word{"P", 1e15}};
// What ncu counts. Some are written in the plural.
constexpr std::string_view kThings[] = {
    "byte",   "bit",     "hz",     "inst",     "cycle",  "sector", "request",     "warp",
    "thread", "block",   "SM",     "register", "sample", "pass",   "cluster",     "op",
    "flop",   "group",   "way",    "tag",      "wave",   "fma",    "transaction", "wavefront",
    "branch", "context", "launch", "kernel",   "pixel",  "quad",   "instruction", "count"};

std::optional<Part> thing(std::string_view text) {
  for (const std::string_view known : kThings) {
    if (text == known) return Part{std::string(known)};
    if (text.size() == known.size() + 1 && text.ends_with('s') && text.starts_with(known)) {
      return Part{std::string(known)};
    }
  }
  return std::nullopt;
}

std::optional<Part> part(std::string_view text) {
  const auto* const time = std::find_if(kTimes.begin(), kTimes.end(),
                                        [&](const Word& word) { return word.text == text; });
  if (time != kTimes.end()) return Part{"s", time->factor, true};
  if (text == "1") return Part{};
  if (text == "%") return Part{"%"};  // ncu 2025.3 has %/byte and %/register
  if (auto plain = thing(text)) return plain;
  for (const Word& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    auto scaled = thing(text.substr(prefix.text.size()));
    if (!scaled) continue;
    scaled->factor = prefix.factor;
    return scaled;
  }
  return std::nullopt;
}

UnitScale rate(const Part& counted, const Part& time) {
  const double factor = counted.factor * time.factor;
  if (counted.base == "cycle" || counted.base.empty()) return {"hz", factor};
  return {counted.base + "/s", factor};
}

}  // namespace

std::optional<UnitScale> unit_scale(std::string_view unit) {
  if (unit.empty() || unit == "%") return UnitScale{std::string(unit), 1};
  const std::size_t slash = unit.find('/');
  const auto above = part(unit.substr(0, slash));
  if (!above) return std::nullopt;
  const UnitScale alone =
      above->is_time ? UnitScale{"ns", 1e9 / above->factor} : UnitScale{above->base, above->factor};
  if (slash == std::string_view::npos) return alone;
  const auto below = part(unit.substr(slash + 1));
  if (!below || (below->base.empty() && !below->is_time)) return std::nullopt;
  if (below->is_time && above->base == "%") return std::nullopt;
  if (below->is_time) return rate(*above, *below);
  return UnitScale{alone.base + '/' + below->base, alone.factor / below->factor};
}

}  // namespace profline::ncu
