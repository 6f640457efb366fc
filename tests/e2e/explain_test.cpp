// `profline explain`: where a value comes from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_tree.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;

TEST(Explain, TellsTheValueAndAllThatSetIt) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view out;
  };
  const Case cases[] = {
      {{"vars.name"},
       "vars.name = shop\n"
       "  > conf/config.yaml:5:9  shop\n"},
      {{"vars.name", "vars.name=a", "++vars.name='b c'"},
       "vars.name = b c\n"
       "    conf/config.yaml:5:9  shop\n"
       "    override 1            a     vars.name=a\n"
       "  > override 2            b c   ++vars.name='b c'\n"},
      {{"vars.db.port", "db=postgresql"},
       "vars.db.port = 5432\n"
       "  > conf/db/postgresql.yaml:3:7  5432  chosen by override 1: db=postgresql\n"},
      {{"vars.url"},
       "vars.url = ${vars.db.host}:${vars.db.port}\n"
       "  which is localhost:3306\n"
       "  > conf/config.yaml:6:8  ${vars.db.host}:${vars.db.port}\n"},
      {{"vars.db.host", "~vars.db.host"},
       "vars.db.host is deleted\n"
       "    conf/db/mysql.yaml:2:7  localhost\n"
       "  > override 1              deleted    ~vars.db.host\n"},
      {{"vars", "vars.db.port=1"},
       "vars: a map of 3 keys\n"
       "  anything: anything to refer to as ${vars.NAME}\n"
       "  vars.db.host  localhost                        conf/db/mysql.yaml:2:7\n"
       "  vars.db.port  1                                override 1\n"
       "  vars.name     shop                             conf/config.yaml:5:9\n"
       "  vars.url      ${vars.db.host}:${vars.db.port}  conf/config.yaml:6:8\n"},
      {{"vars.alias.port", "+vars.alias=${vars.db}"},
       "vars.alias.port leads to\n"
       "vars.db.port = 3306\n"
       "  > conf/db/mysql.yaml:3:7  3306\n"},
      {{"hydra.job.name"},
       "hydra.job.name = profline\n"
       "    built in         ???\n"
       "  > set by profline  profline\n"},
      {{"hydra.verbose", "hydra.verbose=true"},
       "hydra.verbose = true\n"
       "    built in    false\n"
       "  > override 1  true   hydra.verbose=true\n"},
  };
  const SmallTree tree;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments.front());
    std::vector<std::string> arguments = c.arguments;
    arguments.insert(arguments.begin(), "explain");
    const Outcome outcome = tree.run(std::move(arguments));
    EXPECT_EQ(outcome.out, c.out);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.code, 0);
  }
}

TEST(Explain, JsonIsOneDocument) {
  const SmallTree tree;
  const Outcome outcome = tree.run({"explain", "vars.db.port", "vars.db.port=1", "--format=json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            R"({
  "schema": "profline.explain/1",
  "key": "vars.db.port",
  "deleted": false,
  "value": 1,
  "resolved": 1,
  "type": null,
  "help": null,
  "origins": [
    {
      "source": "conf/db/mysql.yaml",
      "line": 3,
      "column": 7,
      "config": "db/mysql",
      "override": null,
      "deletion": false,
      "value": 3306
    },
    {
      "source": "override 1",
      "line": 1,
      "column": 1,
      "config": null,
      "override": "vars.db.port=1",
      "deletion": false,
      "value": 1
    }
  ],
  "children": []
}
)");
}

TEST(Explain, MistakesNameWhatWouldBeRight) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view err;
  };
  const Case cases[] = {
      {{"explain"},
       "profline: 'explain' needs the key to explain first, as in 'profline explain device'\n"},
      {{"explain", "a=1"},
       "profline: 'explain' needs the key to explain first, as in 'profline explain device'\n"},
      {{"explain", "vars.nmae"},
       "profline: there is no key 'vars.nmae' in the config (did you mean 'vars.name'?)\n"},
      {{"explain", "host"},
       "profline: there is no key 'host' in the config (did you mean 'vars.db.host'?)\n"},
      {{"explain", "nothing.like.it"},
       "profline: there is no key 'nothing.like.it' in the config\n"},
      {{"explain", "vars.name", "--cfg", "job"},
       "profline: the command 'explain' takes no option '--cfg'; 'profline explain --help' lists "
       "its "
       "options\n"},
  };
  const SmallTree tree;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    const Outcome outcome = tree.run(c.arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, c.err);
  }
}

TEST(Explain, ShippedValuesAreInTheProgram) {
  const Outcome outcome = run_profline({"explain", "pipeline.nsys.enable"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("pipeline.nsys.enable = false\n"
                                     "  one of true, false, auto: run this stage; auto: if its "
                                     "preflight passes\n"
                                     "  > <profline>/config.yaml:"));
}

}  // namespace
}  // namespace profline::e2e
