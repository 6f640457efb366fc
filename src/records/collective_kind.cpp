#include "records/collective_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace profline {
namespace {

struct Rule {
  std::string_view word;
  CollectiveKind kind;
};

// The first rule that the name contains applies: `reduce` is part of other names.
constexpr std::array kRules = {
    Rule{"allreduce", CollectiveKind::AllReduce},
    Rule{"reducescatter", CollectiveKind::ReduceScatter},
    Rule{"allgather", CollectiveKind::AllGather},
    Rule{"alltoall", CollectiveKind::AllToAll},
    Rule{"gather", CollectiveKind::Gather},
    Rule{"scatter", CollectiveKind::Scatter},
    Rule{"broadcast", CollectiveKind::Broadcast},
    Rule{"reduce", CollectiveKind::Reduce},
    Rule{"send", CollectiveKind::Send},
    Rule{"recv", CollectiveKind::Receive},
};

std::string lower_case_letters(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

}  // namespace

CollectiveKind collective_kind(std::string_view name) {
  const std::string letters = lower_case_letters(name);
  const auto rule = std::ranges::find_if(kRules, [&](const Rule& candidate) {
    return letters.find(candidate.word) != std::string::npos;
  });
  return rule == kRules.end() ? CollectiveKind::Unknown : rule->kind;
}

}  // namespace profline
