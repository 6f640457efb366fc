#include "analysis/requests/tokens.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::requests {
namespace {

// Attributes that the Python adapter records; docs/formats/recorded_python.md.
constexpr const char* kMode = "mode";
constexpr const char* kBeams = "beams";
constexpr const char* kReturned = "num_return_sequences";

constexpr std::string_view kAssisted = "assisted_generation";

std::uint64_t count_at(const Request& request, const char* attribute) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(request.integer(attribute).value_or(1), 1));
}

/// Sequences that the request returned. The beams of a search are computed together with them, but
/// only the best are returned.
std::uint64_t sequences_of(const Request& request) {
  const std::uint64_t rows = std::max<std::uint64_t>(request.batch.value_or(1), 1);
  const std::uint64_t beams = count_at(request, kBeams);
  if (beams == 1) return rows;
  return std::max<std::uint64_t>(rows / beams, 1) * std::min(count_at(request, kReturned), beams);
}

/// The tokens of each sequence, where sequences of a batch ended early. Empty if they did not, or
/// if the attribute does not describe the whole request.
std::vector<std::uint64_t> tokens_of_each(const Request& request) {
  std::vector<std::uint64_t> each = request.counts(kNewTokensEachAttribute);
  // A request of several calls has the longest sequences of all, and the list of the last one.
  const bool is_whole = !each.empty() && *std::max_element(each.begin(), each.end()) ==
                                             request.new_tokens.value_or(0);
  return is_whole ? each : std::vector<std::uint64_t>();
}

bool is_inside(const Phase& inner, const Phase& outer) {
  return inner.path.size() > outer.path.size() && inner.path.starts_with(outer.path) &&
         inner.path[outer.path.size()] == '/';
}

std::uint64_t steps_of(const Request& request) {
  std::uint64_t steps = 0;
  for (const Phase& phase : request.phases) {
    const bool is_counted =
        phase.steps_ns &&
        std::none_of(request.phases.begin(), request.phases.end(),
                     [&](const Phase& outer) { return outer.steps_ns && is_inside(phase, outer); });
    if (is_counted) steps += phase.steps_ns->size();
  }
  return steps;
}

/// Whether steps made the first token as well, as in a program without a prefill of its own. A
/// search may compute more steps than its best sequence has tokens.
bool makes_first(const Request& request, std::uint64_t steps) {
  return request.new_tokens == steps && count_at(request, kBeams) == 1 &&
         request.text(kMode) != kAssisted;
}

/// `beam search, 4 beams`; empty: a step makes one token per sequence.
std::string way_of(const Request& request) {
  const std::string mode = request.text(kMode);
  const std::uint64_t beams = count_at(request, kBeams);
  if (mode != kAssisted && beams == 1) return "";
  std::string words = mode.empty() ? "beam search" : mode;
  std::replace(words.begin(), words.end(), '_', ' ');
  return beams == 1 ? words : words + ", " + counted(beams, "beam");
}

}  // namespace

double Tokens::per_step() const {
  return steps == 0 ? 0 : static_cast<double>(decoded) / static_cast<double>(steps);
}

std::optional<Tokens> tokens_of(const Request& request) {
  if (!request.new_tokens) return std::nullopt;
  Tokens tokens;
  tokens.steps = steps_of(request);
  const std::vector<std::uint64_t> each = tokens_of_each(request);
  std::uint64_t first = 0;  // of each sequence
  for (const std::uint64_t made : each) {
    tokens.all += made;
    first += made > 0 ? 1 : 0;
  }
  if (each.empty()) {
    const std::uint64_t sequences = sequences_of(request);
    tokens.all = *request.new_tokens * sequences;
    first = std::min(sequences, tokens.all);
  }
  tokens.decoded = tokens.all - (makes_first(request, tokens.steps) ? 0 : first);
  return tokens;
}

bool steps_are_tokens(const Request& request, const Phase& phase) {
  if (!request.new_tokens || !phase.steps_ns || request.batch.value_or(1) > 1) return false;
  if (count_at(request, kBeams) > 1) return false;
  const std::uint64_t steps = phase.steps_ns->size();
  return steps + 1 == std::max<std::uint64_t>(*request.new_tokens, 1) ||
         makes_first(request, steps);
}

std::vector<const PhaseInfo*> generating_phases(const PhaseTree& tree) {
  std::vector<const PhaseInfo*> generating;
  for (const PhaseInfo& phase : tree.phases()) {
    const bool is_part =
        std::any_of(generating.begin(), generating.end(),
                    [&](const PhaseInfo* outer) { return tree.is_inside(phase, *outer); });
    if (phase.repeats && !is_part) generating.push_back(&phase);
  }
  return generating;
}

std::vector<std::string> generation_notes(std::span<const Request> requests) {
  struct Way {
    std::size_t requests = 0;
    Tokens tokens;
  };
  std::map<std::string, Way> ways;
  for (const Request& request : requests) {
    const std::string name = way_of(request);
    if (name.empty()) continue;
    Way& way = ways[name];
    ++way.requests;
    const Tokens tokens = tokens_of(request).value_or(Tokens());
    way.tokens.decoded += tokens.decoded;
    way.tokens.steps += tokens.steps;
  }
  std::vector<std::string> notes;
  for (const auto& [name, way] : ways) {
    std::string note = name;
    if (way.requests < requests.size()) {
      note += fmt::format(" ({} of {})", way.requests, counted(requests.size(), "request"));
    }
    if (way.tokens.decoded > 0 && way.tokens.steps > 0) {
      const std::string each = fmt::format("{:.3g}", way.tokens.per_step());
      note += ": " + each + (each == "1" ? " token" : " tokens") + " per step on average";
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace profline::requests
