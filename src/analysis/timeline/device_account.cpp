#include "analysis/timeline/device_account.h"

namespace profline::timeline {

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
