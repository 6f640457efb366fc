#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/request.h"
#include "workload/measure/device_clock.h"
#include "workload/measure/range.h"
#include "workload/model/layers.h"

namespace profline::workload {

/// How long one part of a run took.
struct PartTime {
  const char* name;
  std::chrono::nanoseconds duration;
  std::string path = {};                ///< with the names of the enclosing parts: `prefill/lm`
  std::chrono::nanoseconds start = {};  ///< since the first part began
};

/// The sum over all parts of that name; nothing if there is no such part.
std::optional<std::chrono::nanoseconds> time_of(const std::vector<PartTime>& parts,
                                                std::string_view name);

/// The parts of one request as its phases, in the order in which they began. Parts with the same
/// path are one phase; a part `<name>_step` inside `<name>` is a step of it. `ahead` is the time
/// from the request's start to its first part.
std::vector<Phase> phases_of(const std::vector<PartTime>& parts, std::chrono::nanoseconds ahead);

/// Opens a Range for each part and measures its time.
///
/// The edges of an outermost part are synchronised: before it begins and before it ends, the device
/// has finished all submitted work. Parts inside it are timed only by marks, so that measuring them
/// changes nothing: on a GPU their times are device times.
class MeasuredScopes final : public Scopes {
 public:
  struct Options {
    bool step_ranges = false;      ///< a Range for each decode_step; they are timed either way
    bool synchronise_all = false;  ///< inner parts too: Nsight Compute's range replay needs it
  };
  MeasuredScopes(DeviceClock& clock, Options options) : clock_(clock), options_(options) {}

  void enter(const char* name) override;
  void leave() override;

  /// The times of all parts that ended since the last call, in the order in which they ended. No
  /// part may be open.
  std::vector<PartTime> take();

 private:
  struct Open {
    explicit Open(const char* part) : name(part) {}

    const char* name;
    std::size_t path = 0;  ///< in paths_
    std::size_t begin = 0;
    std::optional<Range> range;
  };
  struct Closed {
    const char* name;
    std::size_t path;
    std::size_t begin;
    std::size_t end;
  };
  /// A part nested in another one. Known paths are found without allocating, because there are many
  /// steps.
  struct Path {
    std::size_t around;  ///< the enclosing part, in paths_; kOutermost: none
    const char* name;

    bool operator==(const Path&) const = default;
  };
  static constexpr std::size_t kOutermost = static_cast<std::size_t>(-1);

  bool is_synchronised() const { return options_.synchronise_all || open_.size() == 1; }

  std::size_t path_of(const Path& path);
  std::string text_of(std::size_t path) const;

  DeviceClock& clock_;
  Options options_;
  std::vector<Path> paths_;
  std::deque<Open> open_;  // a deque, because a Range cannot be moved
  std::vector<Closed> closed_;
};

}  // namespace profline::workload
