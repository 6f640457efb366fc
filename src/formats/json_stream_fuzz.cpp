// What is delivered and reported does not depend on how the bytes arrive; counts add up; every
// element delivered is what the tree parser reads at its place.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "formats/json_stream.h"

namespace {

using profline::ChunkSource;
using profline::JsonStreamLimits;
using profline::JsonView;
using profline::Node;
using profline::Result;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Reading {
  std::vector<Node> elements;
  std::vector<std::string> events;
};

ChunkSource small_chunks(std::string_view text, std::size_t most) {
  return [whole = profline::chunks_of(text), most](std::span<char> into) mutable {
    return whole(into.first(std::min(into.size(), most)));
  };
}

void check_totals(const Result<profline::JsonStreamTotals>& totals, Reading& reading,
                  std::uint64_t skipped, std::size_t size) {
  if (!totals) {
    reading.events.push_back("error " + totals.error().to_string());
    return;
  }
  require(totals->elements == reading.elements.size());
  require(totals->skipped_elements + totals->skipped_members == skipped);
  require(totals->bytes == size);
  require(!totals->truncated_at || *totals->truncated_at == size);
  reading.events.push_back(totals->truncated_at ? "torn" : "whole");
}

Reading read(std::string_view text, bool lines, std::size_t chunk, const JsonStreamLimits& limits) {
  Reading reading;
  std::uint64_t skipped = 0;
  profline::JsonStreamHandlers handlers;
  handlers.element = [&](const JsonView& element, std::uint64_t offset) -> Result<void> {
    require(offset < text.size());
    reading.elements.push_back(element.to_node());
    reading.events.push_back(std::to_string(offset));
    return {};
  };
  handlers.member = [&](const std::string& key, const Node& value) -> Result<void> {
    reading.events.push_back(key + value.position().to_string());
    return {};
  };
  handlers.skipped = [&](const profline::SkippedJson& bad) {
    ++skipped;
    require(bad.problem_offset >= bad.offset && bad.problem_offset <= text.size());
    reading.events.push_back(std::to_string(bad.offset) + bad.reason + bad.excerpt);
  };
  const auto totals =
      lines ? profline::read_json_lines(small_chunks(text, chunk), handlers, limits)
            : profline::read_json_list(small_chunks(text, chunk), "e", handlers, limits);
  check_totals(totals, reading, skipped, text.size());
  return reading;
}

/// A list that the tree parser accepts is delivered whole.
void compare_with_tree(std::string_view text, const Reading& reading) {
  const auto tree = profline::parse_json(text, "fuzz");
  if (!tree || !tree->is_list() || reading.events.back() != "whole") return;
  const bool all = reading.elements.size() == tree->as_list().size();
  require(!all || reading.elements == tree->as_list());
  require(all || reading.events.size() > reading.elements.size() + 1);  // integers beyond uint64
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool lines = data[0] % 2 == 1;
  const std::size_t limit = data[0] < 128 ? 1U << 20U : 1U + data[0] % 64U;
  const std::size_t chunk = 1U + data[1] % 17U;
  const std::size_t window = 1U + data[1] / 8U;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Reading whole = read(text, lines, text.size() + 1, {1U << 12U, limit});
  const Reading parts = read(text, lines, chunk, {window, limit});
  require(whole.events == parts.events && whole.elements == parts.elements);
  if (!lines) compare_with_tree(text, whole);
  return 0;
}
