#include "config/type_rule.h"

#include <gtest/gtest.h>

#include "config/internal/compose_fixture.h"
#include "config/interpolation/load.h"

namespace profline::config {
namespace {

/// The hydra node after conversion to its types, as JSON, or the Error.
std::string typed(std::string_view hydra) {
  const TypeRule types = hydra_types(true, true);
  Result<Node> tree = load_config(hydra, "x.yaml");
  if (!tree) return tree.error().to_string();
  const Result<Node> out = convert(std::move(*tree), types.member(Node::string("hydra")), "hydra");
  return out ? internal::Configs::json(*out) : out.error().to_string();
}

TEST(TypeRule, ConvertsWhatMeansTheSame) {
  EXPECT_EQ(typed("job: {num: '3', id: 77, chdir: 'no', name: 1.0}"),
            R"({"job":{"num":3,"id":"77","chdir":false,"name":"1.0"}})");
  EXPECT_EQ(typed("job: {chdir: 2, env_set: {A: 1, B: true}}"),
            R"({"job":{"chdir":true,"env_set":{"A":"1","B":"True"}}})");
  EXPECT_EQ(typed("mode: RunMode.MULTIRUN"), R"({"mode":"MULTIRUN"})");
  EXPECT_EQ(typed("mode: 1"), R"({"mode":"RUN"})");
  EXPECT_EQ(typed("sweeper: {max_batch_size: null, params: {a: 1}}"),
            R"({"sweeper":{"max_batch_size":null,"params":{"a":"1"}}})");
}

TEST(TypeRule, LeavesMissingValuesAndInterpolations) {
  EXPECT_EQ(typed("{job: {num: \"???\", chdir: '${a}'}, run: '${b}'}"),
            R"({"job":{"num":"???","chdir":"${a}"},"run":"${b}"})");
}

TEST(TypeRule, RefusesOtherTypes) {
  EXPECT_EQ(typed("job: {num: abc}"),
            "x.yaml:1:12: 'hydra.job.num' must be an integer, not a string ('abc')");
  EXPECT_EQ(typed("job: {chdir: 2.5}"),
            "x.yaml:1:14: 'hydra.job.chdir' must be true or false, not a float (2.5)");
  EXPECT_EQ(typed("run: {dir: null}"), "x.yaml:1:12: 'hydra.run.dir' must be a string, not null");
  EXPECT_EQ(typed("run: {dir: [1]}"), "x.yaml:1:12: 'hydra.run.dir' must be a string, not a list");
  EXPECT_EQ(typed("mode: bad"),
            "x.yaml:1:7: 'hydra.mode' must be one of RUN, MULTIRUN, not a string ('bad')");
  EXPECT_EQ(typed("searchpath: 5"),
            "x.yaml:1:13: 'hydra.searchpath' must be a list, not an integer (5)");
  EXPECT_EQ(typed("job_logging: null"), "x.yaml:1:14: 'hydra.job_logging' must be a map, not null");
}

TEST(TypeRule, ARecordHasItsKeysAndNoOthers) {
  EXPECT_EQ(typed("run: {dirr: x}"),
            "x.yaml:1:7: there is no key 'hydra.run.dirr' (did you mean 'dir'?)");
  EXPECT_EQ(typed("launcher: {x: 1}"), "x.yaml:1:12: there is no key 'hydra.launcher.x'");
}

}  // namespace
}  // namespace profline::config
