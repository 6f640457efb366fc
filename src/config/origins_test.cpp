#include <gtest/gtest.h>

#include "config/config_tree.h"
#include "config/internal/compose_fixture.h"

namespace profline::config {
namespace {

using internal::Configs;
using internal::Files;
using internal::Texts;

/// `position config = value`, one for each place.
Texts history(const Composition& composition, std::string_view key) {
  Texts out;
  for (const Origin& origin : composition.origins.history(key)) {
    std::string line = origin.position.to_string() + " " + origin.config;
    line += origin.is_deletion ? " deleted" : " = " + Configs::json(origin.value);
    out.push_back(line);
  }
  return out;
}

TEST(Origins, TellEveryPlaceThatSetAValue) {
  const Configs configs(
      Files{{"c.yaml", "defaults: [db: x, _self_]\ndb:\n  port: 2\nlist: [1, 2]\n"},
            {"db/x.yaml", "port: 1\nuser: ???\n"}});
  const auto composed =
      configs.compose("c", {"db.port=3", "+db.new.key=4", "list=[7]", "~db.user", "++db.user=me"});
  ASSERT_FALSE(composed);  // what is ??? cannot be deleted

  const auto again = configs.compose("c", {"db.port=3", "+db.new.key=4", "list=[7]", "db.user=me"});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(history(*again, "db.port"),
            (Texts{"conf/db/x.yaml:1:7 db/x = 1", "conf/c.yaml:3:9 c = 2",
                   "override 1:1:1 db.port=3 = 3"}));
  EXPECT_EQ(history(*again, "db.user"),
            (Texts{"conf/db/x.yaml:2:7 db/x = \"???\"", "override 4:1:1 db.user=me = \"me\""}));
  EXPECT_EQ(history(*again, "db.new.key"), (Texts{"override 2:1:2 +db.new.key=4 = 4"}));
  EXPECT_EQ(history(*again, "list.0"),
            (Texts{"conf/c.yaml:4:8 c = 1", "override 3:1:1 list=[7] = 7"}));
  EXPECT_EQ(history(*again, "list.1"),
            (Texts{"conf/c.yaml:4:11 c = 2", "override 3:1:1 list=[7] = [7]"}));
  EXPECT_TRUE(history(*again, "none").empty());
}

TEST(Origins, TellWhatStandsInTheWay) {
  const Configs configs(
      {{"c.yaml", "defaults: [g: x, _self_]\ng: null\n"}, {"g/x.yaml", "a: 1\n"}});
  const auto composed = configs.compose("c");
  ASSERT_TRUE(composed);
  EXPECT_EQ(history(*composed, "g.a"),
            (Texts{"conf/g/x.yaml:1:4 g/x = 1", "conf/c.yaml:2:4 c = null"}));
}

}  // namespace
}  // namespace profline::config
