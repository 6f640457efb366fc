#include "analysis/timeline/range_names.h"

#include <gtest/gtest.h>

namespace profline::timeline {
namespace {

TEST(RangeNames, LeavesOutWhatPyTorchCounts) {
  struct Case {
    std::string_view name, label;
  };
  constexpr Case kCases[] = {
      {"aten::to, op_id = 999599", "aten::to"},
      {"aten::mm, seq = 12, op_id = 3", "aten::mm"},
      {"aten::addmm, seq = 32, op_id = 3, sizes = [[1, 64], [64, 64]]", "aten::addmm"},
      {"aten::add, op_id = 9, sizes = [], input_op_ids = [(1,0), (2,0)]", "aten::add"},
      {"AddmmBackward0, stashed seq=7", "AddmmBackward0"},
      {"ProfilerStep#0", "ProfilerStep#*"},
      {"ProfilerStep#1234", "ProfilerStep#*"},
      // Not PyTorch's.
      {"decode", "decode"},
      {"layer 3", "layer 3"},
      {"ProfilerStep#", "ProfilerStep#"},
      {"ProfilerStep#a", "ProfilerStep#a"},
      {"load, seq = first", "load, seq = first"},
      {"load, sizes = all", "load, sizes = all"},
      {", op_id = 3", ", op_id = 3"},
      {"", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(range_label(c.name), c.label) << c.name;
}

TEST(RangeNames, MatchesByNameLabelOrGlob) {
  struct Case {
    std::string_view pattern, name;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"decode", "decode", true},
      {"decode", "decode_step", false},
      {"decode*", "decode_step", true},
      {"*step", "decode_step", true},
      {"de*st?p", "decode_step", true},
      {"?", "ab", false},
      {"*", "", true},
      {"aten::to", "aten::to, op_id = 3", true},
      {"aten::t?", "aten::to, op_id = 3", true},
      {"aten::to, op_id = 3", "aten::to, op_id = 3", true},
      {"aten::to, op_id = 3", "aten::to, op_id = 4", false},
      {"ProfilerStep#3", "ProfilerStep#3", true},
      {"ProfilerStep#3", "ProfilerStep#4", false},
      {"ProfilerStep#*", "ProfilerStep#4", true},
      {"copy [host]", "copy [host]", true},  // brackets mean themselves
      {"copy [h]", "copy h", false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(matches_range(c.name, c.pattern), c.matches) << c.pattern << " / " << c.name;
  }
}

}  // namespace
}  // namespace profline::timeline
