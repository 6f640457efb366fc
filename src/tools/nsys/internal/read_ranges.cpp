// NVTX: ranges and their domains.

#include <algorithm>
#include <array>
#include <tuple>

#include "tools/nsys/internal/import.h"
#include "tools/nsys/internal/nccl.h"

namespace profline::nsys::internal {
namespace {

enum class EventType { PushPop, StartEnd, DomainCreate, Other };

struct EventTypeName {
  std::int64_t id;  // if the file does not say
  std::string_view name;
  EventType type;
};
constexpr std::array kEventTypes = {
    EventTypeName{59, "NvtxPushPopRange", EventType::PushPop},
    EventTypeName{60, "NvtxStartEndRange", EventType::StartEnd},
    EventTypeName{70, "NvtxtPushPopRange", EventType::PushPop},
    EventTypeName{71, "NvtxtStartEndRange", EventType::StartEnd},
    EventTypeName{75, "NvtxDomainCreate", EventType::DomainCreate},
    EventTypeName{34, "NvtxMark", EventType::Other},
};

struct KnownType {
  EventType type = EventType::Other;
  std::string name;
};

std::map<std::int64_t, KnownType> event_types(Import& file) {
  std::map<std::int64_t, KnownType> types;
  const auto add = [&](std::int64_t id, std::string_view name) {
    const auto known = std::ranges::find(kEventTypes, name, &EventTypeName::name);
    types[id] = {known != kEventTypes.end() ? known->type : EventType::Other, std::string(name)};
  };
  for (const EventTypeName& type : kEventTypes) add(type.id, type.name);
  if (const auto table = file.table({"ENUM_NSYS_EVENT_TYPE"})) {
    file.scan(*table, {"id", "name"}, [&](const Rows& rows) {
      if (const auto name = rows.text(1)) add(rows.integer(0), *name);
    });
  }
  return types;
}

/// Each process numbers its domains; a range may precede the row that names its domain.
class Domains {
 public:
  /// A number for the domain until all names are known; 0 is the default domain.
  Names::Id number(std::int64_t process, std::int64_t id) {
    if (id == 0) return 0;
    const auto next = static_cast<Names::Id>(names_.size() + 1);
    const auto [entry, is_new] = numbers_.try_emplace({process, id}, next);
    if (is_new) names_.push_back({id, std::nullopt});
    return entry->second;
  }
  void set_name(std::int64_t process, std::int64_t id, Names::Id name, const Names& names) {
    const Names::Id domain = number(process, id);
    if (domain == 0) return;
    // A domain has one name; if the file has several, the alphabetically first.
    std::optional<Names::Id>& known = names_[domain - 1].name;
    if (!known || names.text(name) < names.text(*known)) known = name;
  }
  Names::Id name(Names::Id number, Names& names) const {
    if (number == 0) return 0;
    const Domain& domain = names_[number - 1];
    return domain.name ? *domain.name : names.id_of("domain " + std::to_string(domain.id));
  }

 private:
  struct Domain {
    std::int64_t id;
    std::optional<Names::Id> name;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Names::Id> numbers_;
  std::vector<Domain> names_;
};

class RangeReader {
 public:
  RangeReader(Import& file, std::string table)
      : import_(file), table_(std::move(table)), types_(event_types(file)), payloads_(file) {}

  void read() {
    import_.scan(table_,
                 {"start", "end", "eventType", "text", "textId", "globalTid", "endGlobalTid",
                  "domainId", "binaryData"},
                 [&](const Rows& rows) { read_row(rows); });
    Timeline& timeline = import_.timeline;
    for (Range& range : timeline.ranges) range.domain = domains_.name(range.domain, timeline.names);
    nccl_.finish(timeline);
  }

 private:
  void read_row(const Rows& rows) {
    const auto known = types_.find(rows.integer(2, -1));
    const EventType type = known != types_.end() ? known->second.type : EventType::Other;
    if (type == EventType::Other) {
      const std::string what = known != types_.end() ? known->second.name : "event of unknown type";
      return import_.skip(table_, what + " is not a range", rows);
    }
    const std::int64_t global_tid = rows.integer(5);
    const std::int64_t domain = rows.integer(7);
    if (type == EventType::DomainCreate) {
      domains_.set_name(process_key(global_tid), domain, text(rows), import_.timeline.names);
      return import_.use();
    }
    add_range(rows, type == EventType::PushPop ? RangeKind::PushPop : RangeKind::StartEnd,
              global_tid, domain);
  }

  void add_range(const Rows& rows, RangeKind kind, std::int64_t global_tid, std::int64_t domain) {
    // For a range that is still open, finish() sets the end to that of the capture.
    const auto end = rows.maybe(1);
    const auto when = interval(import_, table_, rows, end ? end : rows.maybe(0));
    if (!when) return;
    Range range{.start_ns = when->start_ns, .end_ns = when->end_ns};
    range.name = text(rows);
    range.domain = domains_.number(process_key(global_tid), domain);
    range.thread = import_.thread(global_tid);
    range.end_thread = range.thread;
    if (const auto other = rows.maybe(6)) range.end_thread = import_.thread(*other);
    range.kind = kind;
    range.closed = end.has_value();
    import_.timeline.ranges.push_back(range);
    if (!payloads_.empty()) {
      const auto bytes = rows.bytes(8);
      nccl_.add(range, import_.timeline.names, bytes ? payloads_.decode(*bytes) : std::nullopt);
    }
    import_.use();
  }

  /// A registered string is in StringIds, any other in the row.
  Names::Id text(const Rows& rows) {
    if (const auto id = rows.maybe(4)) {
      if (const auto name = import_.strings.find(*id)) return *name;
    }
    if (const auto own = rows.text(3)) return import_.strings.intern(*own);
    return import_.name(std::nullopt);
  }

  Import& import_;
  std::string table_;
  std::map<std::int64_t, KnownType> types_;
  NcclSchemas payloads_;
  NcclCalls nccl_;
  Domains domains_;
};

}  // namespace

void read_ranges(Import& file) {
  const auto table = file.table({"NVTX_EVENTS"});
  if (!table) return file.note("no table NVTX_EVENTS: the file contains no ranges");
  RangeReader(file, *table).read();
}

}  // namespace profline::nsys::internal
