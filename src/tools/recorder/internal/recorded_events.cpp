#include "tools/recorder/internal/recorded_events.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/strings.h"

namespace profline::recorder::internal {
namespace {

std::string position(std::size_t offset) {
  return "byte " + std::to_string(offset);
}

struct Found {
  ChunkHeader header{};
  Lap lap;
};

/// The chunk at an offset, if there is one.
std::optional<Found> chunk_at(std::string_view bytes, std::size_t offset) {
  if (bytes.size() - offset < sizeof(ChunkHeader)) return std::nullopt;
  Found found;
  std::memcpy(&found.header, bytes.data() + offset, sizeof(ChunkHeader));
  const ChunkHeader& header = found.header;
  if (header.magic != kChunkMagic || header.bytes < sizeof(ChunkHeader) ||
      header.bytes % kChunkAlignment != 0) {
    return std::nullopt;
  }
  const std::size_t used = header.state & 0xffffffffU;
  if (used < sizeof(ChunkHeader) || used > header.bytes) return std::nullopt;
  const std::size_t there = std::min(used, bytes.size() - offset);
  found.lap = {.stage = header.stage,
               .number = static_cast<std::uint32_t>(header.state >> 32),
               .thread = header.thread,
               .content = bytes.substr(offset + sizeof header, there - sizeof header),
               .cut_off = there < used};
  return found;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

/// Sorts laps; leaves out copies of what the stage still holds. `stages` are the laps of the stages
/// themselves, which come first in the file.
void order(std::vector<Lap>& laps, const std::unordered_map<std::uint32_t, std::uint32_t>& stages,
           std::vector<bool> is_copy, Reading& reading) {
  std::vector<Lap> kept;
  for (std::size_t i = 0; i < laps.size(); ++i) {
    const std::uint32_t current = stages.at(laps[i].stage);
    if (!is_copy[i] || laps[i].number < current) {
      kept.push_back(laps[i]);
    } else if (laps[i].number > current) {
      reading.skip("a chunk that is newer than its stage",
                   "stage " + std::to_string(laps[i].stage));
    }
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Lap& a, const Lap& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.number < b.number;
  });
  const auto repeated = std::unique(kept.begin(), kept.end(), [](const Lap& a, const Lap& b) {
    return a.stage == b.stage && a.number == b.number;
  });
  if (repeated != kept.end()) {
    reading.skip("a chunk that is in the file twice", "stage " + std::to_string(repeated[-1].stage),
                 static_cast<std::uint64_t>(kept.end() - repeated));
  }
  kept.erase(repeated, kept.end());
  for (const Lap& lap : kept) {
    if (lap.cut_off) {
      reading.skip("the file ends inside a chunk", "stage " + std::to_string(lap.stage));
    }
  }
  laps = std::move(kept);
}

/// A lap that is missing held as many events as fit into a stage.
void report_missing(const std::vector<Lap>& laps, Reading& reading) {
  std::uint32_t expected = 0;
  for (std::size_t i = 0; i < laps.size(); ++i) {
    if (i == 0 || laps[i].stage != laps[i - 1].stage) expected = 0;
    if (laps[i].number != expected) {
      reading.skip("a chunk is missing", "stage " + std::to_string(laps[i].stage),
                   laps[i].number - expected);
    }
    expected = laps[i].number + 1;
  }
}

constexpr std::uint32_t kLostPosition = 1;

EventKind kind_of(const Event& event) {
  return static_cast<EventKind>(event.meta & 0xffU);
}
std::uint32_t domain_of(const Event& event) {
  return static_cast<std::uint32_t>(event.meta >> 8 & 0xffffffU);
}
std::uint32_t name_of(const Event& event) {
  return static_cast<std::uint32_t>(event.meta >> 32);
}

/// Whether `value` of an event of this kind is a time.
bool has_time(EventKind kind) {
  return kind != EventKind::Id && kind != EventKind::Number;
}

bool is_known(EventKind kind) {
  return kind >= EventKind::Push && kind <= EventKind::Leaf;
}

std::int64_t time_of(const Event& event) {
  return static_cast<std::int64_t>(event.value);
}

}  // namespace

Chunks find_chunks(std::string_view bytes, Reading& reading) {
  Chunks chunks;
  std::unordered_map<std::uint32_t, std::uint32_t> stages[2];
  std::vector<bool> is_copy[2];
  std::size_t offset = kHeaderBytes;
  while (offset < bytes.size()) {
    const std::optional<Found> found = chunk_at(bytes, offset);
    const auto kind = found ? found->header.kind : 0;
    if (kind != static_cast<std::uint32_t>(ChunkKind::Events) &&
        kind != static_cast<std::uint32_t>(ChunkKind::Names)) {
      // Space that was reserved but not used is zero.
      const std::string_view page = bytes.substr(offset, kChunkAlignment);
      if (!is_zero(page)) reading.skip("4096 bytes that are not a chunk", position(offset));
      offset += page.size();
      continue;
    }
    const bool is_names = kind == static_cast<std::uint32_t>(ChunkKind::Names);
    const auto [known, is_new] =
        stages[is_names ? 1 : 0].emplace(found->lap.stage, found->lap.number);
    is_copy[is_names ? 1 : 0].push_back(!is_new);
    (is_names ? chunks.names : chunks.events).push_back(found->lap);
    offset += std::min<std::size_t>(found->header.bytes, bytes.size() - offset);
  }
  order(chunks.events, stages[0], is_copy[0], reading);
  order(chunks.names, stages[1], is_copy[1], reading);
  report_missing(chunks.events, reading);
  return chunks;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (const std::optional<std::size_t> bad = first_invalid_utf8(bytes)) {
    text += bytes.substr(0, *bad);
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(*bad + 1);
  }
  return text += bytes;
}

NameList::NameList(const std::vector<Lap>& laps, Reading& reading)
    : names_{"", "(name not recorded)"} {
  for (const Lap& lap : laps) read(lap, reading);
}

void NameList::read(const Lap& lap, Reading& reading) {
  std::string_view rest = lap.content;
  while (rest.size() >= sizeof(NameHeader)) {
    NameHeader header{};
    std::memcpy(&header, rest.data(), sizeof header);
    rest.remove_prefix(sizeof header);
    if (header.id < kFirstName || header.id >= kMaxNames || header.bytes > kNameBytes ||
        header.bytes > rest.size()) {
      reading.skip("a damaged name", "stage " + std::to_string(lap.stage));
      return;
    }
    if (positions_.size() <= header.id) positions_.resize(header.id + 1, 0);
    if (positions_[header.id] != 0) {
      reading.skip("a name that is defined twice", "name " + std::to_string(header.id));
    } else {
      positions_[header.id] = static_cast<std::uint32_t>(names_.size());
      names_.push_back(as_utf8(rest.substr(0, header.bytes)) + (header.truncated == 1 ? "…" : ""));
    }
    rest.remove_prefix(std::min(rest.size(), padded_name_bytes(header.bytes)));
  }
}

std::uint32_t NameList::position(std::uint32_t id) const {
  if (id == kNoName) return 0;
  if (id >= positions_.size() || positions_[id] == 0) return kLostPosition;
  return positions_[id];
}

void RangeBuilder::add(const Lap& lap) {
  const bool follows = has_thread_ && lap.stage == stage_ && lap.number == lap_ + 1;
  if (!follows) close_thread();
  stage_ = lap.stage;
  lap_ = lap.number;
  // After a missing lap, what was open is not known.
  if (!follows && lap.number > 0) begin_thread(lap.thread);
  const std::size_t count = lap.content.size() / sizeof(Event);
  Event event{};
  Event next{};
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&event, lap.content.data() + i * sizeof(Event), sizeof(Event));
    const EventKind kind = kind_of(event);
    const bool has_next = i + 1 < count;
    if (has_next) {
      std::memcpy(&next, lap.content.data() + (i + 1) * sizeof(Event), sizeof(Event));
    }
    const bool is_time = has_time(kind);
    if (!is_known(kind) ||
        (is_time &&
         event.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2))) {
      process_.reading.skip("an unknown event", "stage " + std::to_string(lap.stage));
      continue;
    }
    if (kind == EventKind::Id) continue;  // read with the event that it follows
    ++process_.reading.used;
    take(event, has_next ? &next : nullptr);
    if (is_time) last_ns_ = std::max(last_ns_, time_of(event));
  }
}

void RangeBuilder::begin_thread(std::uint32_t thread) {
  close_thread();
  process_.threads.push_back(thread);
  has_thread_ = true;
}

void RangeBuilder::close_thread() {
  for (const std::uint32_t index : open_) {
    process_.ranges[index].end_ns = std::max(process_.ranges[index].start_ns, last_ns_);
    ++process_.unfinished;
  }
  open_.clear();
  last_ns_ = 0;
  has_thread_ = false;
}

RecordedRange RangeBuilder::opened(const Event& event) const {
  const bool is_leaf = kind_of(event) == EventKind::Leaf;
  RecordedRange range;
  range.start_ns = time_of(event);
  range.end_ns = is_leaf ? range.start_ns + domain_of(event) : range.start_ns;
  range.complete = is_leaf;
  range.name = names_.position(name_of(event));
  range.domain = is_leaf ? 0 : names_.position(domain_of(event));
  range.thread = static_cast<std::uint32_t>(process_.threads.size()) - 1;
  return range;
}

void RangeBuilder::take(const Event& event, const Event* next) {
  const EventKind kind = kind_of(event);
  if (kind == EventKind::Thread) return begin_thread(name_of(event));
  // The thread lost its first events, which had its number.
  if (!has_thread_) begin_thread(0);
  switch (kind) {
    case EventKind::Push:
    case EventKind::Request: {
      RecordedRange range = opened(event);
      range.request = kind == EventKind::Request;
      push(range);
      open_.push_back(static_cast<std::uint32_t>(process_.ranges.size()) - 1);
      break;
    }
    case EventKind::Leaf: {
      push(opened(event));
      last_ns_ = std::max(last_ns_, process_.ranges.back().end_ns);
      break;
    }
    case EventKind::Pop:
      pop(names_.position(domain_of(event)), time_of(event));
      break;
    case EventKind::Start:
    case EventKind::End: {
      if (next == nullptr || kind_of(*next) != EventKind::Id) {
        process_.reading.skip("a range without its number", "stage " + std::to_string(stage_));
        break;
      }
      if (kind == EventKind::End) {
        ends_.push_back({next->value, time_of(event)});
        break;
      }
      RecordedRange range = opened(event);
      range.across_threads = true;
      starts_.push_back({next->value, static_cast<std::uint32_t>(process_.ranges.size())});
      process_.ranges.push_back(range);
      break;
    }
    case EventKind::Mark:
      process_.marks.push_back({.at_ns = time_of(event),
                                .name = names_.position(name_of(event)),
                                .domain = names_.position(domain_of(event)),
                                .thread = static_cast<std::uint32_t>(process_.threads.size()) - 1});
      break;
    case EventKind::Step:
    case EventKind::Number:
      take_in_range(event, kind, names_.position(name_of(event)));
      break;
    case EventKind::Id:
    case EventKind::Thread:
      break;
  }
}

void RangeBuilder::take_in_range(const Event& event, EventKind kind, std::uint32_t name) {
  if (open_.empty()) {
    process_.reading.skip(
        kind == EventKind::Step ? "a step outside a range" : "a number outside a range",
        "stage " + std::to_string(stage_));
    --process_.reading.used;
    return;
  }
  if (kind == EventKind::Step) {
    process_.steps.push_back({.range = open_.back(), .end_ns = time_of(event)});
  } else {
    process_.numbers.push_back({.range = open_.back(), .name = name, .value = event.value});
  }
}

void RangeBuilder::push(const RecordedRange& range) {
  process_.ranges.push_back(range);
  RecordedRange& added = process_.ranges.back();
  if (!open_.empty()) added.parent = static_cast<std::int32_t>(open_.back());
  added.depth = static_cast<std::uint16_t>(
      std::min<std::size_t>(open_.size(), std::numeric_limits<std::uint16_t>::max()));
}

void RangeBuilder::pop(std::uint32_t domain, std::int64_t at_ns) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](std::uint32_t index) {
    return process_.ranges[index].domain == domain;
  });
  if (found == open_.rend()) {
    ++process_.unbalanced;
    return;
  }
  RecordedRange& range = process_.ranges[*found];
  range.end_ns = std::max(range.start_ns, at_ns);
  range.complete = true;
  open_.erase(std::next(found).base());
}

void RangeBuilder::join_cross_thread_ends() {
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::stable_sort(starts_.begin(), starts_.end(), by_id);
  std::stable_sort(ends_.begin(), ends_.end(), by_id);
  auto end = ends_.begin();
  for (const CrossStart& start : starts_) {
    for (; end != ends_.end() && end->id < start.id; ++end) ++process_.unbalanced;
    RecordedRange& range = process_.ranges[start.range];
    if (end == ends_.end() || end->id != start.id) {
      ++process_.unfinished;
      continue;
    }
    range.end_ns = std::max(range.start_ns, end->at_ns);
    range.complete = true;
    ++end;
  }
  process_.unbalanced += static_cast<std::uint64_t>(ends_.end() - end);
}

void RangeBuilder::finish() {
  close_thread();
  join_cross_thread_ends();
}

}  // namespace profline::recorder::internal
