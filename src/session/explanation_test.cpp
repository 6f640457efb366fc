#include "session/config_keys.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

using ::testing::ElementsAre;

class ExplanationTest : public SessionTest {
 protected:
  ExplanationTest() {
    write("conf/shop.yaml",
          "defaults:\n"
          "  - demo\n"
          "  - db: mysql\n"
          "  - _self_\n"
          "vars:\n"
          "  url: ${vars.db.host}:1\n"
          "  all: ${vars.db}\n");
    write("conf/db/mysql.yaml", "# @package vars.db\nhost: localhost\nport: 3306\n");
    write("conf/db/pg.yaml", "# @package vars.db\nhost: pg\nport: 5432\n");
  }

  Explanation explained(const std::string& key, std::vector<std::string> overrides = {}) {
    configuration_ = composed(choice(std::move(overrides), "shop"));
    auto found = explain(*configuration_, key);
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? std::move(*found) : Explanation();
  }
  std::string failure(const std::string& key) {
    configuration_ = composed(choice({}, "shop"));
    const auto found = explain(*configuration_, key);
    return found ? "explained" : found.error().to_string();
  }
  /// `where (detail) = value` of each place.
  static std::vector<std::string> history(const Explanation& of) {
    std::vector<std::string> places;
    for (const SettingPlace& place : of.history) {
      places.push_back(place.where + (place.detail.empty() ? "" : " (" + place.detail + ")"));
    }
    return places;
  }

  std::unique_ptr<Configuration> configuration_;
};

TEST_F(ExplanationTest, NamesEveryPlaceThatSetAValue) {
  const Explanation port = explained("vars.db.port", {"db=pg", "vars.db.port=1"});
  EXPECT_EQ(port.value, Node::integer(1));
  EXPECT_THAT(history(port), ElementsAre("conf/db/pg.yaml:3:7 (chosen by override 1: db=pg)",
                                         "override 2 (vars.db.port=1)"));
  EXPECT_TRUE(port.is_set);
  EXPECT_FALSE(port.resolved);
}

TEST_F(ExplanationTest, ResolvesInterpolationsAndFollowsThem) {
  const Explanation url = explained("vars.url");
  EXPECT_EQ(url.value.as_string(), "${vars.db.host}:1");
  EXPECT_EQ(url.resolved, Node::string("localhost:1"));
  const Explanation host = explained("vars.all.host");
  EXPECT_EQ(host.asked, "vars.all.host");
  EXPECT_EQ(host.key, "vars.db.host");
  EXPECT_EQ(host.value.as_string(), "localhost");
}

TEST_F(ExplanationTest, OfAMapItNamesWhatIsInIt) {
  const Explanation map = explained("vars.db", {"+vars.db.ssl=true"});
  std::vector<std::string> children;
  for (const Explanation::Child& child : map.children) {
    children.push_back(child.key + " " + (child.last ? child.last->where : "-"));
  }
  EXPECT_THAT(children,
              ElementsAre("vars.db.host conf/db/mysql.yaml:2:7",
                          "vars.db.port conf/db/mysql.yaml:3:7", "vars.db.ssl override 1"));
}

TEST_F(ExplanationTest, ReportsWhatWasDeleted) {
  const Explanation gone = explained("vars.db.port", {"~vars.db.port"});
  EXPECT_TRUE(gone.is_deleted);
  EXPECT_THAT(history(gone), ElementsAre("conf/db/mysql.yaml:3:7", "override 1 (~vars.db.port)"));
}

TEST_F(ExplanationTest, SaysWhatTheSchemaKnowsOfAKey) {
  const Explanation tokens = explained("infer.max_new_tokens");
  EXPECT_THAT(tokens.type, ::testing::StartsWith("integer from 1 to"));
  EXPECT_FALSE(tokens.help.empty());
  const Explanation gone = explained("pipeline.keep_going", {"~pipeline.keep_going"});
  EXPECT_TRUE(gone.is_deleted);
  EXPECT_EQ(gone.type, "boolean");
  EXPECT_EQ(gone.default_text, "true");
  const Explanation own = explained("vars.url");
  EXPECT_EQ(own.type, "");
}

TEST_F(ExplanationTest, AKeyThatIsOnlyKnownIsNotSet) {
  write("conf/bare.yaml", "device: cpu\n");
  configuration_ = composed(choice({}, "bare"));
  const auto found = explain(*configuration_, "pipeline.keep_going");
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_FALSE(found->is_set);
  EXPECT_FALSE(found->is_deleted);
  EXPECT_EQ(found->default_text, "true");
}

TEST_F(ExplanationTest, AKeyThatNobodyKnowsIsAnError) {
  EXPECT_EQ(failure("infer.max_new_token"),
            "there is no key 'infer.max_new_token' in the config (did you mean "
            "'infer.max_new_tokens'?)");
  EXPECT_EQ(failure("zzz.q"), "there is no key 'zzz.q' in the config");
}

}  // namespace
}  // namespace profline::session
