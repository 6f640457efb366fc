// For any bytes: reading them whole and in pieces gives the same result, and what was read survives
// being written and read again.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/csv.h"

namespace {

using namespace profline;  // NOLINT(google-build-using-namespace): a program of one file

struct Outcome {
  std::vector<std::vector<std::string>> records;
  std::vector<std::uint64_t> lines;
  std::vector<csv::Skipped> skipped;
  std::string error;

  bool operator==(const Outcome&) const = default;
};

Outcome drain(csv::Reader reader) {
  Outcome outcome;
  while (true) {
    const Result<const csv::Record*> record = reader.next();
    if (!record) {
      outcome.error = record.error().to_string();
      break;
    }
    if (*record == nullptr) break;
    outcome.records.emplace_back((*record)->cells.begin(), (*record)->cells.end());
    outcome.lines.push_back((*record)->line);
  }
  outcome.skipped = reader.skipped().first();
  return outcome;
}

/// Pieces of sizes derived from `seed`; each is overwritten when the next is requested.
csv::ChunkSource in_pieces(std::string_view text, std::uint32_t seed) {
  return [rest = text, state = seed, piece = std::string()]() mutable -> Result<std::string_view> {
    state = state * 1664525U + 1013904223U;
    piece.assign(piece.size(), '#');
    piece = std::string(rest.substr(0, 1 + (state >> 16U) % 23U));
    rest.remove_prefix(piece.size());
    return std::string_view(piece);
  };
}

void read_as_table(std::string_view text) {
  Result<csv::TableReader> table = csv::TableReader::open(
      csv::Reader(text), {.required = {"a"}, .preamble = true, .short_rows = csv::ShortRows::Pad});
  if (!table) return;
  while (true) {
    const Result<const csv::Record*> row = table->next();
    if (!row || *row == nullptr) return;
    PL_ASSERT((*row)->cells.size() == table->header().size(), "a row has the header's columns");
    for (const std::string_view cell : (*row)->cells) {
      const Result<double> number = csv::parse_number(cell, csv::Thousands::Commas);
      const Result<std::int64_t> integer = csv::parse_integer(cell, csv::Thousands::Commas);
      PL_ASSERT(!integer || number, "every integer is a number");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  csv::ReaderOptions options;
  options.bad_records = (data[0] & 1U) != 0 ? csv::BadRecords::Fail : csv::BadRecords::Skip;
  if ((data[0] & 2U) != 0) options.max_record_bytes = 24;
  if ((data[0] & 4U) != 0) options.max_record_cells = 5;
  const std::uint32_t seed = data[1];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  const Outcome whole = drain(csv::Reader(text, options));
  PL_ASSERT(drain(csv::Reader(in_pieces(text, seed), options)) == whole, "pieces change nothing");

  const std::string written = csv::write(whole.records);
  const Outcome again = drain(csv::Reader(in_pieces(written, seed)));
  PL_ASSERT(again.records == whole.records, "what is written is read back");
  PL_ASSERT(again.skipped.empty() && again.error.empty(), "what is written is right");

  read_as_table(text);
  return 0;
}
