#include <algorithm>
#include <random>
#include <string>

#include <benchmark/benchmark.h>

#include "inputs/tokenizer/internal/random_text_for_tests.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer {
namespace {

Tokenizer tiny() {
  return std::move(Tokenizer::parse(tiny_tokenizer_json(), "tiny")).value();
}

/// Words from a few thousand, as in real text, with numbers, line ends and table tokens.
std::string document(std::size_t bytes) {
  std::mt19937 random(5);
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i) {
    std::string word;
    for (auto length = 1 + random() % 9; length > 0; --length) {
      word += static_cast<char>('a' + random() % 26);
    }
    words.push_back(word);
  }
  std::string text;
  while (text.size() < bytes) {
    text += words[std::min(random() % 3000, random() % 3000)];
    const auto kind = random() % 20;
    text += kind == 0 ? ".\n" : kind == 1 ? " 2026, " : kind == 2 ? "<td>" : " ";
  }
  return text;
}

void encode_document(benchmark::State& state) {
  const Tokenizer tokenizer = tiny();
  const std::string text = document(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    auto ids = tokenizer.encode(text);
    benchmark::DoNotOptimize(ids);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(encode_document)->Range(1 << 8, 1 << 20);

void encode_any_unicode(benchmark::State& state) {
  const Tokenizer tokenizer = tiny();
  std::mt19937 random(5);
  const std::string text = testing::random_text(random, 1 << 14);
  for (auto _ : state) {
    auto ids = tokenizer.encode(text);
    benchmark::DoNotOptimize(ids);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(encode_any_unicode);

void encode_one_long_word(benchmark::State& state) {
  const Tokenizer tokenizer = tiny();
  const std::string text(1 << 18, 'a');
  for (auto _ : state) {
    auto ids = tokenizer.encode(text);
    benchmark::DoNotOptimize(ids);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(encode_one_long_word);

void decode_document(benchmark::State& state) {
  const Tokenizer tokenizer = tiny();
  const std::string text = document(1 << 18);
  const auto ids = tokenizer.encode(text).value();
  for (auto _ : state) {
    auto out = tokenizer.decode(ids, SpecialTokens::Keep);
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(decode_document);

}  // namespace
}  // namespace profline::tokenizer
