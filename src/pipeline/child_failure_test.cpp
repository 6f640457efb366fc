#include <csignal>
#include <utility>

#include <gtest/gtest.h>

#include "base/files.h"
#include "pipeline/workload_stage.h"
#include "testing/temp_dir.h"

namespace profline::pipeline {
namespace {

TEST(LastWords, AreTheLastLineThatSaysAnything) {
  EXPECT_EQ(last_words("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words(std::string("too few slots\n------\n\0", 23)), "too few slots");
  EXPECT_EQ(last_words(std::string(500, 'x')), std::string(400, 'x') + " ...");
}

TEST(LastWords, OfLibtorchAreItsReasonAndNotItsStack) {
  EXPECT_EQ(
      last_words("terminate called after throwing an instance of 'c10::Error'\n"
                 "  what():  [enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: "
                 "can't allocate memory: you tried to allocate 4096 bytes. Error code 12 (Cannot "
                 "allocate memory)\n"
                 "frame #0: c10::ThrowEnforceNotMet(char const*, int) + 0x53 (0x7f in libc10.so)\n"
                 "frame #1: c10::alloc_cpu(unsigned long) + 0x5a (0x7f in libc10.so)\n\n"),
      "[enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate memory: "
      "you tried to allocate 4096 bytes. Error code 12 (Cannot allocate memory)");
  EXPECT_EQ(last_words("CUDA out of memory. Tried to allocate 2.00 GiB.\n"
                       "Exception raised from malloc at CUDACachingAllocator.cpp:1436 (most recent "
                       "call first):\n"
                       "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96\n"
                       "<omitting python frames>\n"),
            "CUDA out of memory. Tried to allocate 2.00 GiB.");
}

TEST(MemoryKills, AreReadFromTheGroupWeAreInWhateverItsVersion) {
  struct Case {
    const char* name;
    const char* groups;  ///< /proc/self/cgroup
    const char* file;
    const char* text;
    std::optional<std::uint64_t> kills;
  };
  constexpr Case kCases[] = {
      {"version 2", "0::/user.slice/job\n", "sys/fs/cgroup/user.slice/job/memory.events",
       "low 0\noom 4\noom_kill 3\noom_group_kill 1\n", 3},
      {"version 2 in a container", "0::/../outside\n", "sys/fs/cgroup/memory.events",
       "oom_kill 2\n", 2},
      {"version 1", "5:cpu:/\n4:memory:/job:1\n0::/\n",
       "sys/fs/cgroup/memory/job:1/memory.oom_control",
       "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7},
      {"no memory controller", "0::/\n", "sys/fs/cgroup/cgroup.procs", "1\n", std::nullopt},
      {"no number", "0::/\n", "sys/fs/cgroup/memory.events", "oom_kill many\n", std::nullopt},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const testing::TempDir root;
    for (const auto& [file, text] :
         {std::pair{"proc/self/cgroup", c.groups}, std::pair{c.file, c.text},
          std::pair{"proc/vmstat", "nr_free_pages 5\noom_kill 11\n"}}) {
      ASSERT_TRUE(create_folders((root / file).parent_path()));
      ASSERT_TRUE(write_file_atomic(root / file, text));
    }
    EXPECT_EQ(memory_kills(root.path()), (MemoryKills{c.kills, 11}));
  }
  const testing::TempDir nothing;
  EXPECT_EQ(memory_kills(nothing.path()), MemoryKills{});
}

Exit killed() {
  Exit exit;
  exit.signal = SIGKILL;
  exit.max_rss_bytes = std::uint64_t{64} << 20U;
  return exit;
}

Exit exited(int code) {
  Exit exit;
  exit.code = code;
  exit.max_rss_bytes = std::uint64_t{64} << 20U;
  return exit;
}

std::string out_of_memory_text(const Exit& exit, const MemoryKills& before,
                               const MemoryKills& after) {
  PlannedCommand planned;
  planned.name = "workload";
  const auto finding = out_of_memory(planned, exit, before, after);
  return finding ? finding->text : "";
}

TEST(MemoryKills, AreReportedWhenTheyCanHaveEndedTheChild) {
  const std::string sure =
      "workload: out of memory: the kernel killed one of its processes with SIGKILL because its "
      "control group reached its memory limit (largest resident set 64.0 MiB)";
  const std::string likely =
      "workload: likely out of memory: it ended with SIGKILL, and the kernel's out-of-memory "
      "killer was active while it ran (largest resident set 64.0 MiB)";
  const MemoryKills before{1, 5};
  EXPECT_EQ(out_of_memory_text(killed(), before, {2, 6}), sure);
  EXPECT_EQ(out_of_memory_text(exited(1), before, {2, 6}), sure)
      << "a process of its own, which it could tell";
  EXPECT_EQ(out_of_memory_text(killed(), before, {1, 6}), likely);
  EXPECT_EQ(out_of_memory_text(exited(137), {{}, 5}, {{}, 6}), likely)
      << "as nsys and shells tell it";
  EXPECT_EQ(out_of_memory_text(exited(1), before, {1, 6}), "") << "somebody else's";
  EXPECT_EQ(out_of_memory_text(killed(), before, before), "");
  EXPECT_EQ(out_of_memory_text(killed(), {}, {}), "");
  EXPECT_EQ(out_of_memory_text(exited(0), before, {2, 6}), "");
  Exit stopped = killed();
  stopped.why = Exit::Why::TimedOut;
  EXPECT_EQ(out_of_memory_text(stopped, before, {2, 6}), "");
}

}  // namespace
}  // namespace profline::pipeline
