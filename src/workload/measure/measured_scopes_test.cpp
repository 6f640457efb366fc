#include "workload/measure/measured_scopes.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::workload {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;

/// Time advances by one with each mark; records the order of calls.
class ToyClock final : public DeviceClock {
 public:
  std::size_t mark() override {
    calls += 'm';
    return next_++;
  }
  void synchronise() override { calls += 's'; }
  nanoseconds between(std::size_t from, std::size_t to) const override {
    return nanoseconds(static_cast<std::int64_t>(to - from));
  }
  void restart() override { next_ = 0; }

  std::string calls;

 private:
  std::size_t next_ = 0;
};

/// The scopes that libtorch's profiler would see.
class SeenScopes {
 public:
  SeenScopes() {
    seen().clear();
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              seen().emplace_back(std::string("+") + function.name());
              return nullptr;
            },
            [](const at::RecordFunction& function, at::ObserverContext*) {
              seen().emplace_back(std::string("-") + function.name());
            })
            .scopes({at::RecordScope::USER_SCOPE}));
  }
  ~SeenScopes() { at::removeCallback(handle_); }
  SeenScopes(const SeenScopes&) = delete;
  SeenScopes& operator=(const SeenScopes&) = delete;

  /// A callback is a plain function, so its results must be somewhere it can access.
  static std::vector<std::string>& seen() {
    static thread_local std::vector<std::string> names;
    return names;
  }

 private:
  at::CallbackHandle handle_;
};

void one_inference(Scopes& scopes) {
  {
    const Scope prefill(scopes, scope::kPrefill);
    for (int view = 0; view < 2; ++view) {
      const Scope sam(scopes, scope::kSam);
    }
    const Scope lm(scopes, scope::kLm);
  }
  const Scope decode(scopes, scope::kDecode);
  for (int token = 0; token < 2; ++token) {
    const Scope step(scopes, scope::kDecodeStep);
  }
}

TEST(MeasuredScopes, OnlyOutermostEdgesAreSynchronised) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {});
  one_inference(scopes);
  // prefill: s m, its parts: m m each, m s; the same for decode.
  EXPECT_EQ(clock.calls,
            "sm"
            "mmmmmm"
            "ms"
            "sm"
            "mmmm"
            "ms");
}

TEST(MeasuredScopes, SynchroniseEveryEdgeWhenAsked) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {.synchronise_all = true});
  {
    const Scope outer(scopes, "residual");
    const Scope inner(scopes, "block.conv1");
  }
  EXPECT_EQ(clock.calls, "smsmmsms");
}

TEST(MeasuredScopes, SumTheTimesOfEqualNames) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {});
  one_inference(scopes);
  const std::vector<PartTime> parts = scopes.take();
  EXPECT_EQ(time_of(parts, "prefill"), nanoseconds(7));
  EXPECT_EQ(time_of(parts, "sam"), nanoseconds(2));
  EXPECT_EQ(time_of(parts, "lm"), nanoseconds(1));
  EXPECT_EQ(time_of(parts, "clip"), std::nullopt);
  EXPECT_EQ(time_of(parts, "decode"), nanoseconds(5));
  EXPECT_EQ(time_of(parts, "decode_step"), nanoseconds(2));
  EXPECT_TRUE(scopes.take().empty());
}

TEST(MeasuredScopes, AreRecordFunctionScopesOfTheSameNames) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {});
  const SeenScopes seen;
  one_inference(scopes);
  EXPECT_THAT(SeenScopes::seen(), ElementsAre("+prefill", "+sam", "-sam", "+sam", "-sam", "+lm",
                                              "-lm", "-prefill", "+decode", "-decode"));
}

TEST(MeasuredScopes, ShowDecodeStepsOnlyWhenAsked) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {.step_ranges = true});
  const SeenScopes seen;
  {
    const Scope decode(scopes, scope::kDecode);
    const Scope step(scopes, scope::kDecodeStep);
  }
  EXPECT_THAT(SeenScopes::seen(),
              ElementsAre("+decode", "+decode_step", "-decode_step", "-decode"));
}

TEST(DeviceClock, OfTheCpuGoesForward) {
  const auto clock = make_device_clock(at::Device(at::kCPU));
  ASSERT_TRUE(clock);
  const std::size_t first = (*clock)->mark();
  const std::size_t second = (*clock)->mark();
  (*clock)->synchronise();
  EXPECT_GE((*clock)->between(first, second), nanoseconds(0));
  EXPECT_EQ(device_uuid(at::Device(at::kCPU)), "");
}

TEST(DeviceClock, OfAnotherDeviceIsAnError) {
  const auto clock = make_device_clock(at::Device(at::kXLA));
  ASSERT_FALSE(clock);
  EXPECT_EQ(clock.error().to_string(), "there is no clock for device 'xla'");
}

TEST(MeasuredScopes, AreThePhasesOfARequest) {
  ToyClock clock;
  MeasuredScopes scopes(clock, {});
  one_inference(scopes);
  EXPECT_THAT(phases_of(scopes.take(), nanoseconds(100)),
              ElementsAre(Phase{"prefill", 100, 7, {}}, Phase{"prefill/sam", 101, 2, {}},
                          Phase{"prefill/lm", 105, 1, {}},
                          Phase{"decode", 108, 5, std::vector<std::int64_t>{1, 1}}));
}

}  // namespace
}  // namespace profline::workload
