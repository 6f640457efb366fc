#include "workloads/server/load_progress.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "statistics/steady_state.h"

namespace profline::server {
namespace {

constexpr std::size_t kMostBegun = 4096;
/// The series that is looked at: long enough to tell, short enough to be looked at often.
constexpr std::size_t kMostLatencies = 512;

bool read_number(std::string_view text, std::int64_t& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

// begin 812345678
// warm 812345678 812355678 ok
// done 812345678 812355678 failed
void LoadProgress::take_line(std::string_view line) {
  const auto words = split(line, ' ');
  std::int64_t start = 0;
  std::int64_t end = 0;
  if (words.size() == 2 && words[0] == "begin" && read_number(words[1], start)) {
    if (!began_ns_) began_ns_ = start;
    return;
  }
  const bool is_warmup = words[0] == "warm";
  if (words.size() != 4 || (!is_warmup && words[0] != "done")) return;
  if (!read_number(words[1], start) || !read_number(words[2], end)) return;
  const bool succeeded = words[3] == "ok";
  if (is_warmup) ++warmed_up_;
  ++(succeeded ? succeeded_ : failed_);
  requests_.push_back({!is_warmup, succeeded, start, end});
}

void LoadProgress::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    begun_ += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    take_line(begun_);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  if (begun_.size() > kMostBegun) begun_.clear();
}

bool LoadProgress::is_steady() const {
  if (!is_warm()) return false;
  std::vector<double> latencies;
  for (auto at = requests_.rbegin(); at != requests_.rend(); ++at) {
    if (latencies.size() == kMostLatencies) break;
    if (at->measured && at->succeeded) {
      latencies.push_back(static_cast<double>(at->end_ns - at->start_ns));
    }
  }
  // The first requests of a closed loop begin together: it takes two rounds to get out of step.
  const std::size_t enough =
      std::max<std::size_t>(2 * std::size_t{in_flight_}, 2 * statistics::kEnoughToTell);
  if (latencies.size() < enough) return false;
  std::reverse(latencies.begin(), latencies.end());
  const auto state = statistics::steady_state(latencies);
  return state.verdict == statistics::Steadiness::Steady &&
         latencies.size() - state.first >= statistics::kEnoughToTell;
}

}  // namespace profline::server
