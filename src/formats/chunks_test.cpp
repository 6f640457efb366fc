#include "formats/chunks.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace profline {
namespace {

std::string compressed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Outcome {
  std::string text;
  std::string problem;
};

/// Reads with a span of `step` bytes from a source that gives `chunk` bytes at a time.
Outcome decompress(std::string_view bytes, std::size_t step, std::size_t chunk = 1 << 20U) {
  GzipReader reader([whole = chunks_of(bytes), chunk](std::span<char> into) mutable {
    return whole(into.first(std::min(into.size(), chunk)));
  });
  Outcome outcome;
  std::string buffer(step, '\0');
  while (true) {
    const auto count = reader.read(buffer);
    EXPECT_TRUE(count) << count.error().to_string();
    if (!count || *count == 0) break;
    outcome.text.append(buffer, 0, *count);
  }
  outcome.problem = reader.problem().value_or("");
  return outcome;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "event " + std::to_string(i * 7919) + '\n';
  return text;
}

TEST(Gzip, GivesBackWhatWasCompressedHoweverItIsCut) {
  const std::string text = long_text();
  const std::string bytes = compressed(text);
  EXPECT_TRUE(is_gzip(bytes));
  EXPECT_FALSE(is_gzip("{\"a\": 1}"));
  EXPECT_FALSE(is_gzip("\x1f"));
  for (const std::size_t step : {1000U, 65'536U, 10'000'000U}) {
    for (const std::size_t chunk : {1U, 777U, 1U << 20U}) {
      const Outcome outcome = decompress(bytes, step, chunk);
      EXPECT_EQ(outcome.text, text);
      EXPECT_EQ(outcome.problem, "");
    }
  }
}

TEST(Gzip, ReadsOneMemberAfterAnother) {
  const std::string bytes = compressed("one ") + compressed("") + compressed("two");
  EXPECT_EQ(decompress(bytes, 100).text, "one two");
  EXPECT_EQ(decompress(bytes, 1, 1).text, "one two");
  // Padded to a block, as tape and object stores leave it.
  const Outcome padded = decompress(bytes + std::string(5000, '\0'), 100, 3);
  EXPECT_EQ(padded.text, "one two");
  EXPECT_EQ(padded.problem, "");
}

TEST(Gzip, TellsOfWhatIsTornAndGivesTheRest) {
  const std::string text = long_text();
  const std::string bytes = compressed(text);
  const Outcome torn = decompress(std::string_view(bytes).substr(0, bytes.size() / 2), 4096);
  EXPECT_TRUE(text.starts_with(torn.text));
  EXPECT_GT(torn.text.size(), text.size() / 4);
  EXPECT_EQ(torn.problem, "the gzip data ends early, after " + std::to_string(bytes.size() / 2) +
                              " bytes: the rest is missing");
  // With only the checksum missing, the whole text is there, but unverified.
  const Outcome tail = decompress(std::string_view(bytes).substr(0, bytes.size() - 3), 4096);
  EXPECT_EQ(tail.text, text);
  EXPECT_EQ(tail.problem, "the gzip data ends early, after " + std::to_string(bytes.size() - 3) +
                              " bytes: the rest is missing");
}

TEST(Gzip, TellsOfDamage) {
  std::string bytes = compressed(long_text());
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // in the checksum
  EXPECT_EQ(decompress(bytes, 4096).problem,
            "byte " + std::to_string(bytes.size() - 4) + " of the gzip data: incorrect data check");
  const std::string one = compressed("one");
  const Outcome trailing = decompress(one + "junk", 100);
  EXPECT_EQ(trailing.text, "one");
  EXPECT_EQ(trailing.problem, "byte " + std::to_string(one.size()) +
                                  " of the gzip data: the data from here on is not gzip");
}

TEST(Gzip, PassesOnTheErrorOfItsSource) {
  GzipReader reader(
      [](std::span<char>) -> Result<std::size_t> { return Error(ErrorKind::Io, "disk on fire"); });
  std::string buffer(10, '\0');
  const auto count = reader.read(buffer);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().to_string(), "disk on fire");
}

}  // namespace
}  // namespace profline
