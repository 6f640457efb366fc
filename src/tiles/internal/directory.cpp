#include "tiles/internal/directory.h"

#include <algorithm>

namespace profline::tiles::internal {
namespace {

void write_texts(ByteWriter& to, const std::vector<std::string>& texts) {
  to.value(static_cast<std::uint64_t>(texts.size()));
  for (const std::string& text : texts) to.text(text);
}

std::vector<std::string> read_texts(ByteReader& from) {
  const auto count = from.value<std::uint64_t>();
  std::vector<std::string> texts;
  for (std::uint64_t at = 0; at < count && from.is_good(); ++at) texts.push_back(from.text());
  return texts;
}

void write_facts(ByteWriter& to, const CaptureFacts& facts) {
  to.text(facts.source);
  to.text(facts.tool);
  to.value(facts.origin_ns);
  to.value(facts.length_ns);
  to.value(facts.unix_origin_ns);
  to.value(facts.events);
  write_texts(to, facts.notes);
  write_texts(to, facts.losses);
}

CaptureFacts read_facts(ByteReader& from) {
  CaptureFacts facts;
  facts.source = from.text();
  facts.tool = from.text();
  facts.origin_ns = from.value<std::int64_t>();
  facts.length_ns = from.value<std::int64_t>();
  facts.unix_origin_ns = from.value<std::int64_t>();
  facts.events = from.value<std::uint64_t>();
  facts.notes = read_texts(from);
  facts.losses = read_texts(from);
  return facts;
}

void write_lane(ByteWriter& to, const Lane& lane) {
  to.value(static_cast<std::uint32_t>(lane.kind));
  to.text(lane.group);
  to.text(lane.name);
  to.value(lane.events);
  to.value(lane.first_row);
  to.value(lane.rows);
}

Lane read_lane(ByteReader& from) {
  Lane lane;
  lane.kind = static_cast<LaneKind>(from.value<std::uint32_t>());
  lane.group = from.text();
  lane.name = from.text();
  lane.events = from.value<std::uint64_t>();
  lane.first_row = from.value<std::uint32_t>();
  lane.rows = from.value<std::uint32_t>();
  return lane;
}

template <typename T, typename Read>
std::vector<T> read_all(ByteReader& from, const Read& read) {
  const auto count = from.value<std::uint64_t>();
  std::vector<T> all;
  for (std::uint64_t at = 0; at < count && from.is_good(); ++at) all.push_back(read(from));
  return all;
}

/// Whether lanes refer to rows that are there.
bool is_consistent(const Directory& directory) {
  return std::all_of(directory.lanes.begin(), directory.lanes.end(), [&](const Lane& lane) {
    return lane.kind <= LaneKind::Calls && lane.first_row <= directory.rows.size() &&
           lane.rows <= directory.rows.size() - lane.first_row;
  });
}

}  // namespace

Result<void> Directory::write(IndexFile& to) const {
  ByteWriter bytes;
  bytes.text(identity);
  write_facts(bytes, facts);
  bytes.value(static_cast<std::uint64_t>(lanes.size()));
  for (const Lane& lane : lanes) write_lane(bytes, lane);
  bytes.value(static_cast<std::uint64_t>(rows.size()));
  for (const RowDirectory& row : rows) row.write(bytes);
  write_texts(bytes, names);
  bytes.list(details);
  const Trailer trailer{.directory_offset = to.size(),
                        .directory_bytes = bytes.bytes().size(),
                        .directory_checksum = checksum(bytes.bytes())};
  PL_TRY(to.append(bytes.bytes()));
  ByteWriter last;
  last.value(trailer);
  PL_TRY(to.append(last.bytes()));
  return {};
}

Result<Directory> Directory::read(std::string_view bytes) {
  ByteReader from(bytes);
  Directory directory;
  directory.identity = from.text();
  directory.facts = read_facts(from);
  directory.lanes = read_all<Lane>(from, read_lane);
  directory.rows = read_all<RowDirectory>(from, RowDirectory::read);
  directory.names = read_texts(from);
  directory.details = from.list<Detail>();
  if (!from.is_good() || !from.is_at_end() || !is_consistent(directory)) {
    return Error(ErrorKind::Parse, "is not an index of a timeline, or is damaged");
  }
  return directory;
}

}  // namespace profline::tiles::internal
