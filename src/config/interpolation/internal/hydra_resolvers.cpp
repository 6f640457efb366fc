#include <ctime>
#include <vector>

#include "base/error.h"
#include "config/interpolation/resolve.h"
#include "config/interpolation/resolvers.h"

namespace profline::config::internal {
namespace {

/// `${now:%Y-%m-%d}`
Result<Value> now(const ResolverCall& call) {
  const std::string* format = call.arguments[0].text();
  if (format == nullptr) {
    return problem("the format must be a string, not " +
                   std::string(call.arguments[0].described()));
  }
  const ResolveContext& context = call.resolution.context();
  if (!context.clock) return problem("there is no clock here");
  return Value(Node::string(format_time(context.clock(), *format)));
}

/// `${hydra:runtime.cwd}`
Result<Value> hydra(const ResolverCall& call) {
  const std::string* key = call.arguments[0].text();
  if (key == nullptr) {
    return problem("the key must be a string, not " + std::string(call.arguments[0].described()));
  }
  const Node* tree = call.resolution.context().hydra_root;
  if (tree == nullptr || tree->find("hydra") == nullptr) {
    return problem("there is no hydra configuration here");
  }
  const Selection top =
      PL_TRY(call.resolution.find(call.resolution.adopt_root(*tree), "hydra", false));
  const Place* node = top.value.container();
  if (node == nullptr) return problem("the key 'hydra' is not a map");
  Selection found = PL_TRY(call.resolution.find_below(*node, *key, false));
  switch (found.outcome) {
    case Selection::Outcome::Found:
      break;
    case Selection::Outcome::AboveRoot:
      return problem("key '" + *key + "' goes above the root");
    case Selection::Outcome::BadIndex:
      return problem("key '" + *key + "' has no index where a list needs one");
    default:
      return Value();
  }
  const std::string* text = found.value.text();
  if (text != nullptr && *text == "???") return Value();
  return std::move(found.value);
}

/// `${python_version:minor}`: `3.11`
Result<Value> python_version(const ResolverCall& call) {
  const std::string& version = call.resolution.context().python_version;
  std::string level = "minor";
  if (!call.arguments.empty()) {
    const std::string* given = call.arguments[0].text();
    level = given == nullptr ? std::string() : *given;
  }
  const std::size_t first = version.find('.');
  const std::size_t second = first == std::string::npos ? first : version.find('.', first + 1);
  if (level == "major") return Value(Node::string(version.substr(0, first)));
  if (level == "minor") return Value(Node::string(version.substr(0, second)));
  if (level == "micro") return Value(Node::string(version));
  return Value();
}

}  // namespace

void add_hydra_resolvers(ResolverRegistry& registry) {
  registry.add_looking("now", now,
                       {.least_arguments = 1, .most_arguments = 1, .cached = true, .pure = true});
  registry.add_looking("hydra", hydra,
                       {.least_arguments = 1, .most_arguments = 1, .cached = false, .pure = true});
  registry.add_looking("python_version", python_version,
                       {.least_arguments = 0, .most_arguments = 1, .cached = false, .pure = true});
}

}  // namespace profline::config::internal

namespace profline::config {
namespace {

int days_before_month(int year, int month) {
  constexpr int kDays[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  PL_ASSERT(month >= 1 && month <= 12, "a clock counts months from 1 to 12");
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (leap && month > 2 ? 1 : 0);
}

std::tm to_tm(const LocalTime& time) {
  std::tm tm{};
  tm.tm_year = time.year - 1900;
  tm.tm_mon = time.month - 1;
  tm.tm_mday = time.day;
  tm.tm_hour = time.hour;
  tm.tm_min = time.minute;
  tm.tm_sec = time.second;
  tm.tm_isdst = -1;
  tm.tm_yday = days_before_month(time.year, time.month) + time.day - 1;
  const int before = time.year - 1;  // whole years since the year 1, whose first day was a Monday
  tm.tm_wday = (1 + before * 365 + before / 4 - before / 100 + before / 400 + tm.tm_yday) % 7;
  return tm;
}

/// Expands what C's strftime does not support, or would take from this machine's time zone.
std::string with_python_directives(const LocalTime& time, std::string_view format) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : '\0';
    if (next == '\0') {
      out += format[i];
      continue;
    }
    ++i;
    if (next == 'f') {
      const std::string digits = std::to_string(time.microsecond);
      out += std::string(6 - digits.size(), '0') + digits;
    } else if (next != 'z' && next != 'Z') {
      out += '%';
      out += next;
    }
  }
  return out;
}

}  // namespace

std::string format_time(const LocalTime& time, std::string_view format) {
  // The blank distinguishes an empty result from a buffer that is too small.
  const std::string prepared = with_python_directives(time, format) + ' ';
  const std::tm tm = to_tm(time);
  std::vector<char> buffer(256 + prepared.size() * 4);
  std::size_t length = 0;
  while ((length = std::strftime(buffer.data(), buffer.size(), prepared.c_str(), &tm)) == 0 &&
         buffer.size() < (std::size_t{1} << 20U)) {
    buffer.resize(buffer.size() * 4);
  }
  return length == 0 ? std::string() : std::string(buffer.data(), length - 1);
}

}  // namespace profline::config
