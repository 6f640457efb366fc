#include <gtest/gtest.h>

#include "config/defaults/defaults_list.h"
#include "config/internal/compose_fixture.h"

namespace profline::config {
namespace {

using internal::Configs;
using internal::Files;
using internal::Texts;

/// A tree with one primary config `c`, and the groups g (a, b), g/h (a, b) and n (x).
Configs with(std::string_view primary, std::string_view nested = "") {
  return Configs(Files{{"c.yaml", primary},
                       {"base.yaml", "base: 1\n"},
                       {"g/a.yaml", "v: g-a\n"},
                       {"g/b.yaml", "v: g-b\n"},
                       {"g/h/a.yaml", "v: h-a\n"},
                       {"g/h/b.yaml", "v: h-b\n"},
                       {"a_b/x.yaml", "v: joined\n"},
                       {"n/x.yaml", nested},
                       {"n/g/a.yaml", "v: n-g-a\n"},
                       {"n/other.yaml", "v: n-other\n"},
                       {"hdr/x.yaml", "# @package p.q\nv: hdr\n"}});
}

struct Case {
  std::string_view name;
  std::string_view primary;
  std::string_view nested;
  Texts overrides;
  std::string_view expected;
};

void expect_all(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(with(c.primary, c.nested).defaults("c", c.overrides), c.expected);
  }
}

TEST(DefaultsList, PutsSelfWhereItStandsOrLast) {
  expect_all({
      {"last", "defaults: [g: a, base, _self_]", "", {}, "g/a@g base c"},
      {"first", "defaults: [_self_, g: a]", "", {}, "c g/a@g"},
      {"absent", "defaults: [g: a]", "", {}, "g/a@g c"},
      {"no list", "x: 1", "", {}, "c"},
      {"an empty list", "defaults: []", "", {}, "c"},
      {"added at the end", "defaults: [_self_]", "", {"+g=b"}, "c g/b@g"},
      {"added without a list", "x: 1", "", {"+g=b"}, "c g/b@g"},
  });
}

TEST(DefaultsList, FollowsNestedLists) {
  expect_all({
      {"relative to the group", "defaults: [n: x]", "defaults: [g: a]", {}, "n/g/a@n.g n/x@n c"},
      {"absolute", "defaults: [n: x]", "defaults: [/g: a, _self_]", {}, "g/a@n.g n/x@n c"},
      {"absolute package", "defaults: [n: x]", "defaults: [/g@_global_.g: a]", {}, "g/a@g n/x@n c"},
      {"a config beside it", "defaults: [n: x]", "defaults: [other]", {}, "n/other@n n/x@n c"},
      {"a config at the root", "defaults: [n: x]", "defaults: [/base]", {}, "base@n n/x@n c"},
      {"a config of a group", "defaults: [g/a]", "", {}, "g/a@g c"},
  });
}

TEST(DefaultsList, PutsConfigsIntoPackages) {
  expect_all({
      {"its group", "defaults: [g/h: a]", "", {}, "g/h/a@g.h c"},
      {"another", "defaults: [g@x.y: a]", "", {}, "g/a@x.y c"},
      {"here", "defaults: [g@_here_: a]", "", {}, "g/a c"},
      {"below here", "defaults: [n@p: x]", "defaults: [/g@_here_: a]", {}, "g/a@p n/x@p c"},
      {"global", "defaults: [n: x]", "defaults: [/g@_global_: a]", {}, "g/a n/x@n c"},
      {"the group's name", "defaults: [g/h@_group_.z: a]", "", {}, "g/h/a@g.h.z c"},
      {"of the header", "defaults: [hdr: x]", "", {}, "hdr/x@p.q c"},
      {"rather than of the header", "defaults: [hdr@z: x]", "", {}, "hdr/x@z c"},
      {"twice", "defaults: [g@x: a, g@y: a]", "", {}, "g/a@x g/a@y c"},
  });
}

TEST(DefaultsList, TakesSeveralOptionsOrNone) {
  expect_all({
      {"several", "defaults: [g: [a, b]]", "", {}, "g/a@g g/b@g c"},
      {"several instead of one", "defaults: [g: a]", "", {"g=[b,a]"}, "g/b@g g/a@g c"},
      {"null", "defaults: [g: null]", "", {}, "c"},
      {"null, chosen", "defaults: [g: null]", "", {"g=a"}, "g/a@g c"},
      {"deleted", "defaults: [g: a]", "", {"~g"}, "c"},
      {"deleted by its option", "defaults: [g: a]", "", {"~g=a"}, "c"},
      {"optional and absent", "defaults: [optional g: none]", "", {}, "c"},
      {"optional and there", "defaults: [optional g: a]", "", {}, "g/a@g c"},
  });
}

TEST(DefaultsList, OverridesGroupsFromFurtherDown) {
  expect_all({
      {"in the same list", "defaults: [g: a, override g: b]", "", {}, "g/b@g c"},
      {"in a nested list",
       "defaults: [g: a, n: x]",
       "# @package _global_\ndefaults: [override /g: b]",
       {},
       "g/b@g n/x c"},
      {"the command line wins", "defaults: [g: a, override g: b]", "", {"g=a"}, "g/a@g c"},
      {"with a package", "defaults: [g@p: a, override g@p: b]", "", {}, "g/b@p c"},
      {"Hydra's own", "defaults: [override hydra/job_logging: none]", "", {}, "c"},
      {"of an added group",
       "defaults: [g: a]",
       "# @package _global_\ndefaults: [override /g: b]",
       {"+n=x"},
       "g/b@g c n/x"},
  });
}

TEST(DefaultsList, ResolvesInterpolationsByWhatWasChosen) {
  expect_all({
      {"an option", "defaults: [g: b, g/h: '${g}']", "", {}, "g/b@g g/h/b@g.h c"},
      {"as the command line chose",
       "defaults: [g: b, g/h: '${g}']",
       "",
       {"g=a"},
       "g/a@g g/h/a@g.h c"},
      {"chosen later", "defaults: [g/h: '${g}', g: b]", "", {}, "g/h/b@g.h g/b@g c"},
      {"a config", "defaults: [g: a, 'g/${g}@z']", "", {}, "g/a@g g/a@z c"},
  });
}

TEST(DefaultsList, RefusesWhatCannotBeMeant) {
  struct Wrong {
    std::string_view primary, nested, reason, message;
  };
  const Wrong wrongs[] = {
      {"defaults: {g: a}", "", "defaults_not_list",
       "conf/c.yaml:1:11: the defaults of 'c' must be a list, not a map"},
      {"defaults: [5]", "", "defaults_item_invalid",
       "conf/c.yaml:1:12: in the defaults list of 'c': an entry must be 'group: option' or the "
       "name "
       "of a config, not an integer"},
      {"defaults: [{g: a, n: x}]", "", "defaults_item_invalid",
       "conf/c.yaml:1:12: in the defaults list of 'c': an entry must be one group and its option, "
       "but this has 2 keys"},
      {"defaults: [g: 5]", "", "defaults_item_invalid",
       "conf/c.yaml:1:15: in the defaults list of 'c': an option must be a string, a list of "
       "strings "
       "or null, not an integer"},
      {"defaults: [g: [5]]", "", "defaults_item_invalid",
       "conf/c.yaml:1:16: in the defaults list of 'c': an option must be a string, not an "
       "integer"},
      {"defaults: [_self_@x]", "", "self_package",
       "conf/c.yaml:1:12: in the defaults list of 'c': _self_ goes into the config's own package "
       "and takes no other"},
      {"defaults: [_self_, _self_]", "", "duplicate_self",
       "conf/c.yaml:1:20: 'c' has _self_ twice in its defaults list"},
      {"defaults: [override g: a, n: x]", "", "override_not_last",
       "conf/c.yaml:1:27: in 'c' the override of 'g' comes before 'n'; overrides go at the end of "
       "a defaults list"},
      {"defaults: [override g: a]", "", "group_override_no_match",
       "conf/c.yaml:1:12: 'c' overrides a group, but nothing in the defaults list is called 'g'"},
      {"defaults: [g@x: a, override g: b]", "", "group_override_no_match",
       "conf/c.yaml:1:20: 'c' overrides a group, but nothing in the defaults list is called 'g'; "
       "did you mean g@x?"},
      {"defaults: [g: [a, '${n}']]", "", "options_interpolation",
       "conf/c.yaml:1:12: in 'c' the option '${n}' is an interpolation, which a list of options "
       "may not hold"},
      {"defaults: [g: '${none}']", "", "defaults_interpolation",
       "conf/c.yaml:1:12: cannot resolve '${none}' in a defaults list, which sees only the groups "
       "chosen so far: none"},
      {"defaults: [g: '${defaults.0.g}']", "", "defaults_interpolation",
       "conf/c.yaml:1:12: '${defaults.0.g}' refers to a place in the defaults list; refer to the "
       "group by its name, as in ${db}"},
      {"defaults: [g: a, n: x]", "defaults: [/g@_global_.g: a]", "duplicate_in_defaults",
       "conf/n/x.yaml:1:12: the group 'g' is in the final defaults list more than once, the second "
       "time because of "
       "'n/x'"},
      {"defaults: [g: \"???\"]", "", "must_specify_group",
       "conf/c.yaml:1:12: you must choose 'g', as in g=a; it has the options a, b"},
      {"defaults: [none]", "", "group_option_not_found",
       "conf/c.yaml:1:12: there is no config 'none' (looked in pkg://hydra.conf, embedded://conf)"},
      {"defaults: [nogroup: a]", "", "group_option_not_found",
       "conf/c.yaml:1:12: the group 'nogroup' has no option 'a'; there is no such group (looked in "
       "pkg://hydra.conf, embedded://conf)"},
  };
  for (const Wrong& wrong : wrongs) {
    SCOPED_TRACE(wrong.primary);
    const Configs configs = with(wrong.primary, wrong.nested);
    EXPECT_EQ(configs.reason("c"), wrong.reason);
    EXPECT_EQ(configs.defaults("c"), wrong.message);
  }
}

TEST(DefaultsList, AnInterpolatedConfigOverridesNoGroup) {
  const Configs configs(Files{{"c.yaml", "defaults: [g: a, n: '${g}']"},
                              {"g/a.yaml", ""},
                              {"g/b.yaml", ""},
                              {"n/a.yaml", "defaults: [override /g: b]"}});
  EXPECT_EQ(configs.defaults("c"),
            "conf/n/a.yaml:1:12: 'n/a' is chosen by an interpolation, and so may not override "
            "another group ('g@n.g')");
}

}  // namespace
}  // namespace profline::config
