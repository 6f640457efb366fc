#include "workloads/server/life.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace profline::server {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

LifeRules rules(bool has_window = true) {
  LifeRules rules;
  rules.has_window = has_window;
  rules.ready_timeout = std::chrono::seconds(10);
  rules.window.seconds = 2;
  rules.window.patience = 30;
  return rules;
}

/// Plays a life: carries out what is decided, and keeps it.
class Played {
 public:
  explicit Played(const LifeRules& its_rules = rules()) : life_(its_rules, 0) {}

  Act at(double second) {
    sight_.now_ns = static_cast<std::int64_t>(second * kSecond);
    const Decision decision = life_.next(sight_);
    if (decision.finding) codes_.push_back(decision.finding->code);
    if (decision.finding) texts_.push_back(decision.finding->text);
    return decision.act;
  }
  void begin_load(double second) {
    sight_.is_ready = true;
    EXPECT_EQ(at(second), Act::StartLoad);
    sight_.load_began_ns = static_cast<std::int64_t>(second * kSecond);
  }
  void open(double second) {
    sight_.is_warm = sight_.is_steady = true;
    EXPECT_EQ(at(second), Act::OpenWindow);
    life_.window_opened(static_cast<std::int64_t>(second * kSecond));
  }

  Life life_;
  Sight sight_;
  std::vector<std::string> codes_;
  std::vector<std::string> texts_;
};

TEST(Life, GoesFromStartToStop) {
  Played played;
  EXPECT_EQ(played.at(0.1), Act::Wait);
  played.begin_load(1);
  EXPECT_EQ(played.at(1.5), Act::Wait);  // in warm-up
  played.sight_.is_warm = true;
  EXPECT_EQ(played.at(2), Act::Wait);  // warm, but not steady
  played.open(3);
  EXPECT_EQ(played.at(4.9), Act::Wait);
  EXPECT_EQ(played.at(5), Act::CloseWindow);
  played.life_.window_closed();
  EXPECT_EQ(played.at(5.5), Act::FinishLoad);
  EXPECT_EQ(played.at(5.6), Act::Wait);  // answers still arrive
  played.sight_.load_ended = true;
  EXPECT_EQ(played.at(6), Act::StopServer);
  EXPECT_EQ(played.at(6.1), Act::Done);
  EXPECT_TRUE(played.codes_.empty());
}

TEST(Life, NeedsNoWindowWithoutAProfiler) {
  Played played(rules(false));
  played.begin_load(1);
  played.sight_.is_warm = played.sight_.is_steady = true;
  EXPECT_EQ(played.at(2), Act::Wait);
  played.sight_.load_ended = true;
  EXPECT_EQ(played.at(3), Act::StopServer);
  EXPECT_EQ(played.at(3), Act::Done);
  EXPECT_TRUE(played.codes_.empty());
}

TEST(Life, OpensTheWindowAfterTheWarmUpIfThatIsAskedFor) {
  LifeRules early = rules();
  early.window.after = settings::WindowAfter::Warmup;
  Played played(early);
  played.begin_load(1);
  EXPECT_EQ(played.at(1.5), Act::Wait);
  played.sight_.is_warm = true;
  EXPECT_EQ(played.at(2), Act::OpenWindow);
}

TEST(Life, SaysWhenTheServerDied) {
  struct Case {
    const char* code;
    void (*bring_about)(Played&);
  };
  const Case cases[] = {
      {"server_died_loading", [](Played&) {}},
      {"server_died_in_warmup", [](Played& played) { played.begin_load(1); }},
      {"server_died_under_load",
       [](Played& played) {
         played.begin_load(1);
         played.sight_.is_warm = true;
         EXPECT_EQ(played.at(2), Act::Wait);
       }},
      {"server_died_in_window",
       [](Played& played) {
         played.begin_load(1);
         played.open(2);
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.code);
    Played played;
    each.bring_about(played);
    played.sight_.server_end = "exited with code 3: out of memory";
    Act act = played.at(2.5);
    if (act == Act::CloseWindow) {  // to keep what was captured
      played.life_.window_closed();
      act = played.at(2.6);
    }
    if (act == Act::AbandonLoad) {
      played.sight_.load_ended = true;
      act = played.at(2.7);
    }
    EXPECT_EQ(act, Act::Done);
    ASSERT_EQ(played.codes_, std::vector<std::string>{each.code});
    EXPECT_NE(played.texts_[0].find("exited with code 3: out of memory"), std::string::npos);
  }
}

TEST(Life, GivesUpAServerThatDoesNotBecomeReady) {
  Played played;
  played.sight_.why_not_ready = "GET /health answers 503";
  EXPECT_EQ(played.at(9.9), Act::Wait);
  EXPECT_EQ(played.at(10), Act::StopServer);
  EXPECT_EQ(played.at(10.1), Act::Done);
  ASSERT_EQ(played.codes_, std::vector<std::string>{"server_not_ready"});
  EXPECT_EQ(played.texts_[0], "the server was not ready after 10.0 s: GET /health answers 503");
}

TEST(Life, OpensTheWindowOfALoadThatDoesNotSettleAndSaysSo) {
  Played played;
  played.begin_load(1);
  played.sight_.is_warm = true;
  EXPECT_EQ(played.at(30.9), Act::Wait);
  EXPECT_EQ(played.at(31), Act::OpenWindow);
  EXPECT_EQ(played.codes_, std::vector<std::string>{"load_not_steady"});
}

TEST(Life, ReportsALoadThatEndsTooSoon) {
  struct Case {
    const char* code;
    bool is_open;
    const char* failure;
  };
  for (const Case& each :
       {Case{"window_not_opened", false, ""}, Case{"load_failed", false, "no request succeeded"},
        Case{"load_ended_in_window", true, ""}}) {
    SCOPED_TRACE(each.code);
    Played played;
    played.begin_load(1);
    if (each.is_open) played.open(2);
    played.sight_.load_ended = true;
    played.sight_.load_failure = each.failure;
    if (*each.failure != '\0') {  // perhaps because the server is about to end
      EXPECT_EQ(played.at(2.5), Act::Wait);
    }
    EXPECT_EQ(played.at(3.5), each.is_open ? Act::CloseWindow : Act::StopServer);
    EXPECT_EQ(played.codes_, std::vector<std::string>{each.code});
  }
}

TEST(Life, NamesTheServersEndIfTheLoadFailsBeforeItIsGone) {
  struct Case {
    const char* code;
    bool is_open;
  };
  for (const Case& each :
       {Case{"server_died_in_warmup", false}, Case{"server_died_in_window", true}}) {
    SCOPED_TRACE(each.code);
    Played played;
    played.begin_load(1);
    if (each.is_open) played.open(2);
    played.sight_.load_ended = true;
    played.sight_.load_failure = "no request succeeded; 8 requests failed";
    EXPECT_EQ(played.at(3), Act::Wait);
    played.sight_.server_end = "exited with code 3: out of memory";
    EXPECT_EQ(played.at(3.1), each.is_open ? Act::CloseWindow : Act::Done);
    EXPECT_EQ(played.codes_, std::vector<std::string>{each.code});
  }
}

TEST(Life, GoesOnToTheEndIfTheWindowIsRefused) {
  Played played;
  played.begin_load(1);
  played.sight_.is_warm = played.sight_.is_steady = true;
  EXPECT_EQ(played.at(2), Act::OpenWindow);
  played.life_.window_refused();
  EXPECT_EQ(played.at(2.1), Act::FinishLoad);
  played.sight_.load_ended = true;
  EXPECT_EQ(played.at(2.2), Act::StopServer);
}

TEST(Life, ClosesTheWindowAndStopsWhenInterrupted) {
  Played played;
  played.begin_load(1);
  played.open(2);
  played.sight_.is_interrupted = true;
  EXPECT_EQ(played.at(2.5), Act::CloseWindow);
  played.life_.window_closed();
  EXPECT_EQ(played.at(2.6), Act::AbandonLoad);
  played.sight_.load_ended = true;
  EXPECT_EQ(played.at(2.7), Act::StopServer);
  EXPECT_EQ(played.at(2.8), Act::Done);
  EXPECT_TRUE(played.codes_.empty());
}

TEST(Life, StopsAServerThatIsInterruptedWhileItLoads) {
  Played played;
  played.sight_.is_interrupted = true;
  EXPECT_EQ(played.at(1), Act::StopServer);
  EXPECT_EQ(played.at(1), Act::Done);
}

}  // namespace
}  // namespace profline::server
