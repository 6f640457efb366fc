// A stream means the same however it is cut into pieces, and no event is larger than the limit.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "load/stream.h"

namespace {

using profline::load::Chunk;
using profline::load::EventParser;

std::vector<Chunk> chunks_of(std::string_view text, std::size_t piece) {
  std::vector<Chunk> chunks;
  EventParser parser;
  const auto take = [&](const EventParser::Event& event) {
    PL_ASSERT(event.data.size() <= EventParser::kMostBytes, "events are bounded");
    chunks.push_back(profline::load::interpret(event));
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!parser.feed(text.substr(at, piece), take)) break;
  }
  parser.end(take);
  return chunks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<Chunk> whole = chunks_of(text, size + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    PL_ASSERT(chunks_of(text, piece) == whole, "pieces do not matter");
  }
  for (const Chunk& chunk : whole) {
    PL_ASSERT(chunk.kind != Chunk::Kind::Output || !chunk.text.empty(), "output has text");
  }
  profline::load::error_message(text);
  return 0;
}
