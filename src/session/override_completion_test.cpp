#include "session/config_keys.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class OverrideCompletionTest : public SessionTest {
 protected:
  OverrideCompletionTest() {
    write("conf/shop.yaml", "defaults: [demo, {db: mysql}, _self_]\n");
    write("conf/db/mysql.yaml", "# @package vars.db\nhost: localhost\nssl: true\n");
    write("conf/db/pg.yaml", "# @package vars.db\nhost: pg\nschema: public\n");
    write("conf/cache/redis.yaml", "size: 1\n");
  }
  OverrideCompletion of(std::vector<std::string> before = {}) const {
    return OverrideCompletion(choice(std::move(before), "shop"));
  }
};

TEST_F(OverrideCompletionTest, OffersTheNextStepOfAKey) {
  EXPECT_THAT(of().keys("infer.max"), ElementsAre("infer.max_new_tokens "));
  EXPECT_THAT(of().keys("vars.d"), ElementsAre("vars.db."));
  EXPECT_THAT(of().keys("nothing"), IsEmpty());
}

TEST_F(OverrideCompletionTest, GroupsAreOfferedBesideKeys) {
  EXPECT_THAT(of().overrides("d"), ::testing::AllOf(Contains("db="), Contains("device="),
                                                    Contains("dataset."), Contains("dataset=")));
  EXPECT_THAT(of().overrides("~db"), ElementsAre("~db "));
  EXPECT_THAT(of().overrides("+ca"), ElementsAre("+cache="));
}

TEST_F(OverrideCompletionTest, ValuesAreOptionsOfTheGroupOrOfTheType) {
  EXPECT_THAT(of().overrides("db="), ElementsAre("db=mysql ", "db=pg "));
  EXPECT_THAT(of().overrides("device=c"), ElementsAre("device=cpu ", "device=cuda "));
  EXPECT_THAT(of().overrides("vars.db.ssl="),
              ElementsAre("vars.db.ssl=true ", "vars.db.ssl=false "));
  EXPECT_THAT(of().overrides("vars.db.host="), ElementsAre("vars.db.host=localhost "));
}

TEST_F(OverrideCompletionTest, WhatStandsBeforeCounts) {
  EXPECT_THAT(of().keys("vars.db."), ElementsAre("vars.db.host ", "vars.db.ssl "));
  EXPECT_THAT(of({"db=pg"}).keys("vars.db."), ElementsAre("vars.db.host ", "vars.db.schema "));
  // Overrides that do not compose are left out.
  EXPECT_THAT(of({"db=nothing"}).keys("vars.db."), ElementsAre("vars.db.host ", "vars.db.ssl "));
}

TEST_F(OverrideCompletionTest, HydrasOwnKeysAreForThoseWhoAsk) {
  EXPECT_THAT(of().keys(""), Not(Contains("hydra.")));
  EXPECT_THAT(of().keys("hydra.run."), ElementsAre("hydra.run.dir "));
}

TEST_F(OverrideCompletionTest, NothingIsOfferedWhereNothingComposes) {
  const OverrideCompletion none(choice({}, "no_such_config"));
  EXPECT_THAT(none.keys(""), IsEmpty());
  EXPECT_THAT(none.overrides("device="), IsEmpty());
}

}  // namespace
}  // namespace profline::session
