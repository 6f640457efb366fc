// Work of devices: kernels, copies, fills, and graphs traced as a whole.

#include <algorithm>
#include <array>
#include <limits>

#include "base/figures.h"
#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

std::uint32_t to_u32(std::int64_t value) {
  const bool fits = value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(value) : 0;
}

/// The columns that each table of device work begins with; its own columns follow.
constexpr int kDevice = 2;
constexpr int kContext = 3;
constexpr int kStream = 4;
constexpr int kCorrelation = 5;
constexpr int kPid = 6;
constexpr int kNode = 7;
constexpr int kOwn = 8;
constexpr std::array<std::string_view, kOwn> kCommonColumns = {
    "start",    "end",           "deviceId",  "contextId",
    "streamId", "correlationId", "globalPid", "graphNodeId"};

class WorkReader {
 public:
  explicit WorkReader(Import& file) : import_(file) {}

  void kernels(const std::string& table) {
    scan(table,
         {name_column(table), "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY",
          "blockZ", "staticSharedMemory", "dynamicSharedMemory"},
         [&](const Rows& rows, DeviceWork& work) {
           work.kind = WorkKind::Kernel;
           work.name = import_.name(rows.maybe(kOwn));
           work.shape = shape(rows);
         });
  }

  void kernel_times(const std::string& table) {
    std::vector<DeviceWork>& work = import_.timeline.work;
    work.reserve(work.size() + import_.rows_at_most(table));
    std::vector<std::string_view> columns(kCommonColumns.begin(), kCommonColumns.end());
    columns.push_back(name_column(table));
    import_.scan(table, columns, [&](const Rows& rows) {
      const auto when = interval(import_, table, rows);
      if (!when) return;
      DeviceWork row{.start_ns = when->start_ns, .end_ns = when->end_ns};
      row.name = import_.name(rows.maybe(kOwn));
      place_on_stream(rows, row);
      work.push_back(row);
      import_.use();
    });
  }

  void copies() {
    const auto table = import_.table({"CUPTI_ACTIVITY_KIND_MEMCPY"});
    if (!table) return;
    const std::map<std::int64_t, Copy> kinds = copy_kinds();
    const std::map<std::int64_t, MemoryKind> memory = memory_kinds();
    scan(*table, {"bytes", "copyKind", "srcKind", "dstKind"},
         [&](const Rows& rows, DeviceWork& work) {
           const auto found = kinds.find(rows.integer(kOwn + 1, -1));
           const Copy& copy = found != kinds.end() ? found->second : unknown_copy_;
           work.kind = WorkKind::Copy;
           work.name = copy.name;
           work.copy = copy.kind;
           work.from = memory_kind(memory, rows.maybe(kOwn + 2));
           work.to = memory_kind(memory, rows.maybe(kOwn + 3));
           work.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(kOwn), 0));
         });
  }

  void fills() {
    const auto table = import_.table({"CUPTI_ACTIVITY_KIND_MEMSET"});
    if (!table) return;
    const Names::Id name = import_.timeline.names.id_of("[CUDA memset]");
    const std::map<std::int64_t, MemoryKind> memory = memory_kinds();
    scan(*table, {"bytes", "memKind"}, [&](const Rows& rows, DeviceWork& work) {
      work.kind = WorkKind::Fill;
      work.name = name;
      work.to = memory_kind(memory, rows.maybe(kOwn + 1));
      work.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(kOwn), 0));
    });
  }

  void graphs() {
    const auto table = import_.table({"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"});
    if (!table) return;
    std::uint64_t count = 0;
    scan(*table, {"graphId"}, [&](const Rows& rows, DeviceWork& work) {
      ++count;
      work.kind = WorkKind::Graph;
      work.name =
          import_.timeline.names.id_of("[CUDA graph " + std::to_string(rows.integer(kOwn)) + "]");
    });
    if (count == 0) return;
    import_.note(counted(count, "graph launch was", "graph launches were") +
                 " traced as a whole; the kernels inside are not in the file (nsys profile "
                 "--cuda-graph-trace=node records them)");
  }

 private:
  struct Copy {
    CopyKind kind = CopyKind::Other;
    Names::Id name = 0;
  };

  /// Demangled with its template arguments, if the export has that.
  std::string_view name_column(const std::string& table) const {
    for (const std::string_view column : {"demangledName", "shortName", "mangledName"}) {
      if (import_.has_column(table, column)) return column;
    }
    return "demangledName";
  }

  template <typename Fill>
  void scan(const std::string& table, const std::vector<std::string_view>& own, Fill&& fill) {
    std::vector<std::string_view> columns(kCommonColumns.begin(), kCommonColumns.end());
    columns.insert(columns.end(), own.begin(), own.end());
    std::vector<DeviceWork>& work = import_.timeline.work;
    work.reserve(work.size() + import_.rows_at_most(table));
    import_.scan(table, columns, [&](const Rows& rows) {
      const auto when = interval(import_, table, rows);
      if (!when) return;
      DeviceWork row{.start_ns = when->start_ns, .end_ns = when->end_ns};
      place(rows, row);
      fill(rows, row);
      work.push_back(row);
      import_.use();
    });
  }

  /// Sets where it ran and what launched it.
  void place(const Rows& rows, DeviceWork& work) {
    const auto global_pid = rows.maybe(kPid);
    const auto correlation =
        static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(kCorrelation), 0));
    const std::uint32_t process = global_pid ? process_number(*global_pid) : 0;
    work.launch =
        global_pid ? import_.calls->find(process, correlation) : import_.calls->find(correlation);
    work.graph_node = static_cast<std::uint64_t>(rows.integer(kNode));
    place_on_stream(rows, work);
  }

  void place_on_stream(const Rows& rows, DeviceWork& work) {
    const auto device = rows.maybe(kDevice);
    if (!device) return;
    work.stream = stream(
        {process_key(rows.integer(kPid)), *device, rows.integer(kContext), rows.integer(kStream)});
  }

  std::uint32_t process_number(std::int64_t global_pid) {
    if (!last_process_ || global_pid != last_pid_) last_process_ = import_.process(global_pid);
    last_pid_ = global_pid;
    return *last_process_;
  }

  RowIndex stream(const StreamKey& key) {
    if (last_stream_row_ == kNoRow || key != last_stream_) last_stream_row_ = import_.stream(key);
    last_stream_ = key;
    return last_stream_row_;
  }

  RowIndex shape(const Rows& rows) {
    const auto at = [&](int column) { return to_u32(rows.integer(kOwn + column)); };
    return import_.shape({.grid = {at(2), at(3), at(4)},
                          .block = {at(5), at(6), at(7)},
                          .registers_per_thread = at(1),
                          .static_shared_bytes = at(8),
                          .dynamic_shared_bytes = at(9)});
  }

  /// From the enumeration in the file, if there is one: ids are CUPTI's and have not changed, but
  /// newer releases add some.
  std::map<std::int64_t, Copy> copy_kinds() {
    std::map<std::int64_t, std::string> labels = {
        {1, "Host-to-Device"},  {2, "Device-to-Host"},   {3, "Host-to-Array"},
        {4, "Array-to-Host"},   {5, "Array-to-Array"},   {6, "Array-to-Device"},
        {7, "Device-to-Array"}, {8, "Device-to-Device"}, {9, "Host-to-Host"},
        {10, "Peer-to-Peer"},
    };
    if (const auto table = import_.table({"ENUM_CUDA_MEMCPY_OPER"})) {
      import_.scan(*table, {"id", "label"}, [&](const Rows& rows) {
        const auto label = rows.text(1);
        if (label) labels[rows.integer(0)] = std::string(*label);
      });
    }
    std::map<std::int64_t, Copy> kinds;
    for (const auto& [id, label] : labels) {
      kinds[id] = {kind_of(label), import_.strings.intern("[CUDA memcpy " + label + "]")};
    }
    unknown_copy_ = {CopyKind::Other, import_.timeline.names.id_of("[CUDA memcpy]")};
    return kinds;
  }

  /// From the labels in the file. Without them the kinds are unknown: CUPTI and nsys number them
  /// differently.
  std::map<std::int64_t, MemoryKind> memory_kinds() {
    std::map<std::int64_t, MemoryKind> kinds;
    const auto table = import_.table({"ENUM_CUDA_MEM_KIND"});
    if (!table) return kinds;
    import_.scan(*table, {"id", "label"}, [&](const Rows& rows) {
      const std::string_view label = rows.text(1).value_or(std::string_view());
      if (label == "Pageable") kinds[rows.integer(0)] = MemoryKind::Pageable;
      if (label == "Pinned") kinds[rows.integer(0)] = MemoryKind::Pinned;
      if (label.starts_with("Device")) kinds[rows.integer(0)] = MemoryKind::Device;
      if (label == "Array") kinds[rows.integer(0)] = MemoryKind::Array;
      if (label.starts_with("Managed")) kinds[rows.integer(0)] = MemoryKind::Managed;
    });
    return kinds;
  }

  static MemoryKind memory_kind(const std::map<std::int64_t, MemoryKind>& kinds,
                                std::optional<std::int64_t> id) {
    const auto found = id ? kinds.find(*id) : kinds.end();
    return found != kinds.end() ? found->second : MemoryKind::Unknown;
  }

  /// Arrays are on the device; unified memory is moved like any other.
  static CopyKind kind_of(std::string_view label) {
    const auto split = label.find("-to-");
    if (split == std::string_view::npos) return CopyKind::Other;
    if (label.starts_with("Unified ")) return kind_of(label.substr(8));
    const std::string_view from = label.substr(0, split);
    const std::string_view to = label.substr(split + 4);
    if (from == "Peer" && to == "Peer") return CopyKind::PeerToPeer;
    const auto on_device = [](std::string_view side) {
      return side == "Device" || side == "Array";
    };
    const auto known = [&](std::string_view side) { return side == "Host" || on_device(side); };
    if (!known(from) || !known(to)) return CopyKind::Other;
    if (on_device(from)) return on_device(to) ? CopyKind::DeviceToDevice : CopyKind::DeviceToHost;
    return on_device(to) ? CopyKind::HostToDevice : CopyKind::HostToHost;
  }

  Import& import_;
  StreamKey last_stream_{};
  RowIndex last_stream_row_ = kNoRow;
  std::int64_t last_pid_ = 0;
  std::optional<std::uint32_t> last_process_;
  Copy unknown_copy_;
};

/// Reads the kernels in slices, each with `read`.
void read_kernel_table(Import& file, void (WorkReader::*read)(const std::string& table)) {
  if (const auto table = file.table({"CUPTI_ACTIVITY_KIND_KERNEL"})) {
    read_in_slices(file, *table, [&](Import& part) { (WorkReader(part).*read)(*table); });
  } else {
    file.note("no table CUPTI_ACTIVITY_KIND_KERNEL: the file contains no kernels");
  }
  order_work(file, 0);
}

}  // namespace

void read_work(Import& file) {
  // Once for all tables: growing would have every row in memory twice.
  constexpr std::array<std::string_view, 4> kTables = {
      "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  file.timeline.work.reserve(file.rows_at_most(kTables));
  read_kernel_table(file, &WorkReader::kernels);
  const std::size_t kernels = file.timeline.work.size();
  WorkReader reader(file);
  reader.copies();
  reader.fills();
  reader.graphs();
  order_work(file, kernels);
}

void read_kernels_only(Import& file) {
  file.timeline.work.reserve(file.rows_at_most("CUPTI_ACTIVITY_KIND_KERNEL"));
  read_kernel_table(file, &WorkReader::kernel_times);
}

}  // namespace profline::nsys::internal
