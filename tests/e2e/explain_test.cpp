// `profline explain`: where a value comes from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_tree.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;

TEST(Explain, ReportsTheValueAndAllThatSetIt) {
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
       "  anything: your own values, for use as ${vars.NAME} elsewhere\n"
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
  "set": true,
  "deleted": false,
  "value": 1,
  "resolved": 1,
  "type": null,
  "help": null,
  "default": null,
  "flag": null,
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

TEST(Explain, SaysWhatHoldsForAKeyThatAPresetLeavesOut) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"conf/profiling/ncu/mine.yaml", "ncu_cli:\n  set: detailed\n"},
                              {"conf/profiling/nsys/mine.yaml", "capture_range: nvtx\n"}});
  struct Case {
    std::string key;
    std::string_view out;
  };
  const Case cases[] = {
      {"pipeline.ncu.ncu_cli.metrics",
       "pipeline.ncu.ncu_cli.metrics is not set\n"
       "  list of string or ','-separated string or null: additional metrics to collect; "
       "flop_count_hp, _sp and _dp are translated; null: not passed\n"
       "  becomes --metrics <v>,<v>, those that the installed ncu knows; flop_count_sp becomes "
       "its fadd, fmul and ffma counters; range replay adds smsp__inst_executed.sum\n"
       "  > default  null: not passed\n"},
      {"pipeline.ncu.ncu_cli.set",
       "pipeline.ncu.ncu_cli.set = detailed\n"
       "  string or null: set of sections, by ncu's name for it; null: not passed\n"
       "  becomes --set <v>\n"
       "  > conf/profiling/ncu/mine.yaml:2:8  detailed  chosen by override 1: "
       "profiling/ncu@pipeline.ncu=mine\n"},
      {"pipeline.nsys.capture_range_end",
       "pipeline.nsys.capture_range_end is not set\n"
       "  one of none, stop, stop-shutdown, repeat, repeat:N, repeat-shutdown:N (N up to "
       "1000000) or null: what happens when the range ends; null or empty: nsys's own default, "
       "which ends the workload\n"
       "  becomes --capture-range-end=<v>, with a capture range\n"
       "  > default  null: not passed\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.key);
    const Outcome outcome = run_profline_in(
        folder.path(), {"explain", c.key, "--config-dir", "conf", "profiling/ncu@pipeline.ncu=mine",
                        "profiling/nsys@pipeline.nsys=mine"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, c.out);
  }
  const Outcome deleted = run_profline(
      {"explain", "pipeline.nsys.capture_range_end", "~pipeline.nsys.capture_range_end"});
  EXPECT_THAT(deleted.out, HasSubstr("  > default  null: not passed\n"));
  const Outcome json =
      run_profline_in(folder.path(), {"explain", "pipeline.nsys.trace", "--config-dir", "conf",
                                      "profiling/nsys@pipeline.nsys=mine", "--format=json"});
  EXPECT_THAT(json.out, HasSubstr("\"set\": false,\n"));
  EXPECT_THAT(json.out, HasSubstr("\"flag\": \"--trace=<v>,<v>\",\n"));
  const Outcome group = run_profline({"explain", "pipeline.ncu.ncu_cli"});
  EXPECT_THAT(group.out, HasSubstr("  always passed as well: --nvtx, so that rows name the ranges "
                                   "of their kernels, -o and --log-file\n"));
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
