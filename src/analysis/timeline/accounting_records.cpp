#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/timeline/accounting.h"

namespace profline::timeline {
namespace {

struct CauseNames {
  std::string_view text;
  std::string_view key;
};
constexpr std::array<CauseNames, kIdleCauses> kCauseNames = {{
    {"queued, not started", "queued"},
    {"host in a launch call", "launching"},
    {"host in a copy call", "copy_wait"},
    {"host synchronizing", "synchronizing"},
    {"host allocating memory", "allocating"},
    {"host between launches", "host_between"},
    {"nothing queued", "nothing_queued"},
}};

std::optional<double> per_token(std::uint64_t launches, std::uint64_t tokens) {
  if (tokens == 0) return std::nullopt;
  return static_cast<double>(launches) / static_cast<double>(tokens);
}

}  // namespace

std::string_view to_text(IdleCause cause) {
  return kCauseNames[static_cast<std::size_t>(cause)].text;
}

std::string_view to_key(IdleCause cause) {
  return kCauseNames[static_cast<std::size_t>(cause)].key;
}

std::int64_t DeviceTime::wall_ns() const {
  return std::accumulate(ran_ns.begin(), ran_ns.end(), std::int64_t{0});
}

std::int64_t DeviceTime::with_ns(unsigned kinds) const {
  std::int64_t sum_ns = 0;
  for (unsigned ran = 0; ran < ran_ns.size(); ++ran) {
    if ((ran & kinds) == kinds) sum_ns += ran_ns[ran];
  }
  return sum_ns;
}

DeviceTime& DeviceTime::operator+=(const DeviceTime& other) {
  for (std::size_t ran = 0; ran < ran_ns.size(); ++ran) ran_ns[ran] += other.ran_ns[ran];
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) idle_ns[cause] += other.idle_ns[cause];
  return *this;
}

void Spread::add(std::int64_t length_ns) {
  ++count;
  sum_ns += length_ns;
  min_ns = std::min(min_ns, length_ns);
  max_ns = std::max(max_ns, length_ns);
  if (length_ns < 0) ++negative;
}

double Spread::mean_ns() const {
  return count == 0 ? std::nan("") : static_cast<double>(sum_ns) / static_cast<double>(count);
}

void WorkSum::add(const DeviceWork& work) {
  ++count;
  sum_ns += work.duration_ns();
}

std::optional<double> RangeAccount::launches_per_token() const {
  return per_token(launch.launches, tokens);
}

std::optional<double> RangeAccount::busy_share() const {
  if (time.empty() || wall_ns <= 0) return std::nullopt;
  double busy_ns = 0;
  for (const DeviceTime& device : time) busy_ns += static_cast<double>(device.busy_ns());
  return busy_ns / (static_cast<double>(wall_ns) * static_cast<double>(time.size()));
}

ActiveSpan Accounting::active_of_all() const {
  if (active.empty()) return {};
  ActiveSpan all = active.front();
  for (const ActiveSpan& span : active) {
    all.begin_ns = std::min(all.begin_ns, span.begin_ns);
    all.end_ns = std::max(all.end_ns, span.end_ns);
  }
  return all;
}

std::optional<double> Accounting::launches_per_token() const {
  return per_token(launch.launches, tokens);
}

DeviceAccount device_account(std::int32_t device, const DeviceTime& time, std::int64_t wall_ns,
                             const OwnTime& own) {
  DeviceAccount account;
  account.device = device;
  account.busy_ns = time.busy_ns();
  account.compute_ns = time.with_ns(kCompute);
  account.copy_ns = time.with_ns(kCopy);
  account.communication_ns = time.with_ns(kCommunication);
  account.idle = {.queued_ns = time.idle_of(IdleCause::Queued),
                  .launching_ns = time.idle_of(IdleCause::Launching),
                  .copy_wait_ns = time.idle_of(IdleCause::CopyWait),
                  .synchronizing_ns = time.idle_of(IdleCause::Synchronizing),
                  .allocating_ns = time.idle_of(IdleCause::Allocating),
                  .host_between_ns = time.idle_of(IdleCause::HostBetween),
                  .nothing_queued_ns = time.idle_of(IdleCause::NothingQueued)};
  account.residual_ns = wall_ns - account.busy_ns - account.idle.sum_ns();
  account.own_busy_ns = own.busy_ns;
  account.own_inside_ns = own.inside_ns;
  return account;
}

}  // namespace profline::timeline
