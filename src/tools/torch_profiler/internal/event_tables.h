#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/timeline.h"
#include "tools/torch_profiler/internal/trace_event.h"

/// The small tables that rows refer to, each with a short way for what was asked for just before:
/// neighbours in a trace are mostly of one thread, one stream and a few names.
namespace profline::torch_profiler::internal {

/// Texts of the trace as ids.
class NameTable {
 public:
  explicit NameTable(Names& names) : names_(names) {}

  /// 0 for what is no string.
  Names::Id id_of(const RawValue& value);

  std::uint64_t bad_escapes() const { return bad_escapes_; }
  std::uint64_t bad_utf8() const { return bad_utf8_; }  ///< distinct texts

 private:
  struct Slot {
    std::string raw;  // as it stands in the trace
    Names::Id id = 0;
    bool is_filled = false;
  };
  static constexpr std::size_t kSlots = 2048;
  static constexpr std::size_t kLongestKept = std::size_t{16} << 10U;

  Names::Id first_sight(std::string_view raw);

  Names& names_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::uint64_t bad_escapes_ = 0;
  std::uint64_t bad_utf8_ = 0;
};

/// Threads by what the trace calls process and thread: numbers or any text.
class ThreadTable {
 public:
  explicit ThreadTable(std::vector<Thread>& threads) : threads_(threads) {}

  RowIndex row_of(const RawValue& process, const RawValue& thread);
  /// The name that metadata gives a thread, kept until the thread is there.
  void set_name(const RawValue& process, const RawValue& thread, Names::Id name);
  /// Gives the threads their names; those that have only a text for a number get that.
  void apply_names(Names& names);

 private:
  std::vector<Thread>& threads_;
  std::unordered_map<std::string, RowIndex> rows_;
  std::unordered_map<std::string, Names::Id> names_;
  std::vector<std::string> texts_;  // by row: what stands for the thread when it has no number
  std::string last_key_;
  RowIndex last_row_ = kNoRow;
};

class StreamTable {
 public:
  explicit StreamTable(std::vector<Stream>& streams) : streams_(streams) {}
  RowIndex row_of(const Stream& stream);

 private:
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };
  std::vector<Stream>& streams_;
  std::unordered_map<Stream, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

class ShapeTable {
 public:
  explicit ShapeTable(std::vector<LaunchShape>& shapes) : shapes_(shapes) {}
  /// kNoRow when the event has no grid.
  RowIndex row_of(const RawEvent& event);

 private:
  struct Hash {
    std::size_t operator()(const LaunchShape& shape) const;
  };
  std::vector<LaunchShape>& shapes_;
  std::unordered_map<LaunchShape, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

/// What events say of collectives. PyTorch describes one twice: with the operator that starts it
/// (`record_param_comms`) and, since 2.2, with each of its kernels.
class CollectiveTable {
 public:
  CollectiveTable(Timeline& timeline, NameTable& names) : timeline_(timeline), names_(names) {}

  /// The row that a kernel's own words make; kNoRow when it has none.
  RowIndex add_kernel(const RawEvent& event);
  /// Keeps what an operator says, if it says anything.
  void add_operator(const RawEvent& event);
  /// When rows are linked and in order: one row a collective, and each of its kernels names it.
  void finish();

 private:
  RowIndex add(const RawEvent& event);
  Names::Id group_of(const RawEvent& event);
  RowIndex row_of(const DeviceWork& work) const;
  void keep_only(const std::vector<bool>& used);

  Timeline& timeline_;
  NameTable& names_;
  std::unordered_map<std::uint64_t, RowIndex> of_operator_;  // by External id
  std::vector<std::uint64_t> external_ids_;                  // by row
  std::vector<bool> is_operator_;                            // by row
};

}  // namespace profline::torch_profiler::internal
