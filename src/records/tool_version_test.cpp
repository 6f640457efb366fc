#include "records/tool_version.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(ToolVersion, IsFoundInWhatTheToolsPrint) {
  struct Case {
    std::string_view name, text, marker;
    ToolVersion version;
  };
  const Case cases[] = {
      {"nsys 2022.4",
       "NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n",
       "version",
       {2022, 4, 2}},
      {"nsys 2025.3",
       "NVIDIA Nsight Systems version 2025.3.1.90-253136109802v0",
       "version",
       {2025, 3, 1}},
      {"ncu 2024.1",
       "NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2024 NVIDIA "
       "Corporation\nVersion 2024.1.1.0 (build 33998838) (public-release)\n",
       "Version",
       {2024, 1, 1}},
      {"two parts", "release 13.0, V13.0.88", "release", {13, 0, 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto version = find_version(c.text, c.marker);
    ASSERT_TRUE(version);
    EXPECT_EQ(*version, c.version);
  }
}

TEST(ToolVersion, IsNotMadeUp) {
  for (const char* text :
       {"", "version", "version unknown", "version 7", "version -1.-2", "2022.4.2"}) {
    EXPECT_FALSE(find_version(text, "version")) << text;
  }
}

TEST(ToolVersion, Orders) {
  EXPECT_LT((ToolVersion{2022, 4, 2}), (ToolVersion{2023, 1, 0}));
  EXPECT_EQ((ToolVersion{2025, 3, 1}).to_string(), "2025.3.1");
}

}  // namespace
}  // namespace profline
