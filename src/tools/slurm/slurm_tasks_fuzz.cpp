// For any text from squeue or sacct: a state is one word, indexes are bounded, and what was read is
// read the same way again when it is written as squeue and sacct write it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tools/slurm/slurm.h"

namespace {

using profline::slurm::Tasks;

constexpr std::size_t kLargestArray = 4'000'001;

void check(const Tasks& tasks) {
  for (const auto& [index, task] : tasks) {
    PL_ASSERT(index < kLargestArray, "indexes are bounded");
    PL_ASSERT(task.state.find_first_of(" +|\n") == std::string::npos, "a state is one word");
    PL_ASSERT(task.reason != "None", "no reason is an empty text");
  }
}

std::string queue_text(const Tasks& tasks) {
  std::string text;
  for (const auto& [index, task] : tasks) {
    text += "1|" + std::to_string(index) + "|" + task.state + "|" + task.reason + "\n";
  }
  return text;
}

std::string accounting_text(const Tasks& tasks) {
  std::string text;
  for (const auto& [index, task] : tasks) {
    text += "1_" + std::to_string(index) + "|" + task.state + "|0:0\n";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer hands out bytes
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Each line may name millions of tasks: right for one array, slow for a text of many.
  constexpr std::size_t kMostDigits = 5;
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMostDigits) return 0;
  }
  const Tasks queued = profline::slurm::parse_queue(text);
  check(queued);
  PL_ASSERT(profline::slurm::parse_queue(queue_text(queued)) == queued, "the queue is read back");
  const Tasks ended = profline::slurm::parse_accounting(text);
  check(ended);
  PL_ASSERT(profline::slurm::parse_accounting(accounting_text(ended)) == ended,
            "the accounting is read back");
  std::vector<std::size_t> indexes = profline::slurm::parse_array_text(text);
  std::sort(indexes.begin(), indexes.end());
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  PL_ASSERT(profline::slurm::parse_array_text(profline::slurm::array_text(indexes)) == indexes,
            "an array is read back");
  return 0;
}
