#include "pipeline/child_failure.h"

#include <gtest/gtest.h>

namespace profline::pipeline {
namespace {

TEST(LastWords, AreTheLastLineThatSaysAnything) {
  EXPECT_EQ(last_words("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(last_words(""), "");
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

}  // namespace
}  // namespace profline::pipeline
