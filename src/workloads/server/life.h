#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "records/run_record.h"
#include "settings/load.h"

/// The life of a server under load: start, ready, warm-up, load, window, stop. Pure: it is shown
/// what is there, and says what comes next.
namespace profline::server {

/// Where a server is in its life.
enum class Phase : std::uint8_t {
  Loading,   ///< started, and not ready
  Warming,   ///< the load has begun; nothing is measured yet
  Loaded,    ///< under load; the window has not been opened
  Window,    ///< the window is open
  Closed,    ///< the window was closed; the load goes on until its answers have arrived
  Stopping,  ///< it was asked to end
};
/// `while it loaded`, `in warm-up`, `in the window`.
std::string_view when_text(Phase phase);

/// What to do next.
enum class Act : std::uint8_t {
  Wait,
  StartLoad,
  OpenWindow,
  CloseWindow,
  FinishLoad,  ///< send no more requests
  AbandonLoad,
  StopServer,
  Done,
};

struct LifeRules {
  bool has_window = false;
  std::chrono::milliseconds ready_timeout{0};
  settings::ServerWindow window{};
};

/// What there is to see at one moment.
struct Sight {
  std::int64_t now_ns = 0;
  /// How the server ended: `exited with code 1: out of memory`; empty: it runs.
  std::string server_end{};
  bool is_ready = false;
  std::string why_not_ready{};                  ///< `connection refused`
  std::optional<std::int64_t> load_began_ns{};  ///< the first request was sent
  bool is_warm = false;                         ///< the requests of the warm-up have ended
  bool is_steady = false;
  bool load_ended = false;
  std::string load_failure{};  ///< why the load ended; empty: as it should
  bool is_interrupted = false;
};

struct Decision {
  Act act = Act::Wait;
  std::optional<Finding> finding{};  ///< what there is to report now
};

class Life {
 public:
  explicit Life(const LifeRules& rules, std::int64_t start_ns)
      : rules_(rules), start_ns_(start_ns) {}

  /// To be called again after each act was carried out.
  Decision next(const Sight& sight);

  // What became of acts.
  void window_opened(std::int64_t at_ns);
  /// It stays closed: the window was refused, or never acknowledged.
  void window_refused();
  void window_closed();

  Phase phase() const { return phase_; }

 private:
  Decision after_end(const Sight& sight);
  Decision loading(const Sight& sight);
  Decision loaded(const Sight& sight);
  Decision closed(const Sight& sight);
  Decision stop(std::optional<Finding> finding);
  Decision end_load(Decision decision, const Sight& sight);
  bool may_be_ending(const Sight& sight);

  LifeRules rules_;
  std::int64_t start_ns_;
  Phase phase_ = Phase::Loading;
  std::int64_t open_ns_ = 0;
  std::optional<std::int64_t> load_failed_ns_{};  ///< when that was first seen
  bool load_is_on_ = false;
  bool load_was_ended_ = false;
  bool end_was_reported_ = false;
};

}  // namespace profline::server
