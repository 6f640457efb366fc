#include "tools/recorder/recording.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/figures.h"
#include "base/files.h"
#include "recorder/format/layout.h"
#include "run/names/artifact_names.h"
#include "tools/recorder/internal/recorded_events.h"

namespace profline::recorder {
namespace {

constexpr std::array<std::string_view, kLosses> kLossReasons = {
    "the recording reached its size limit (PROFLINE_RECORD_LIMIT)",
    "its file could not be extended",
    "the recorder ran out of memory",
    "too many threads opened ranges at the same time",
    "a signal handler interrupted the recorder",
};

std::string reason_of(std::size_t loss, int error) {
  std::string reason(kLossReasons[loss]);
  if (loss == static_cast<std::size_t>(Loss::Disk) && error != 0) {
    reason += ": " + std::generic_category().message(error);
  }
  return reason;
}

std::string process_of(const ProcessRanges& process) {
  return "process " + std::to_string(process.pid) +
         (process.program.empty() ? "" : " (" + process.program + ")");
}

void report_losses(const FileHeader& header, ProcessRanges& process) {
  Reading& reading = process.reading;
  for (std::size_t i = 0; i < kLosses; ++i) {
    if (header.lost[i] == 0) continue;
    reading.lost += header.lost[i];
    reading.losses.push_back(counted(header.lost[i], "event", "events") + " of " +
                             process_of(process) + (header.lost[i] == 1 ? " was" : " were") +
                             " not recorded: " + reason_of(i, header.error));
  }
  if (header.names_lost > 0) {
    reading.losses.push_back("the names of " + counted(header.names_lost, "event", "events") +
                             " of " + process_of(process) +
                             " were not recorded: there were too many different ones, or the "
                             "recording had stopped");
  }
}

Result<FileHeader> header_of(std::string_view bytes, const std::string& source) {
  FileHeader header{};
  if (bytes.size() < sizeof header) {
    return Error(ErrorKind::Parse, source + ": too short for a recording of ranges");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kFileMagic || header.header_bytes != kHeaderBytes) {
    return Error(ErrorKind::Parse, source + ": not a recording of ranges");
  }
  if (header.version > kVersion) {
    return Error(ErrorKind::Parse,
                 source + ": a recording of version " + std::to_string(header.version) +
                     "; this profline reads up to version " + std::to_string(kVersion));
  }
  header.program[sizeof header.program - 1] = '\0';
  return header;
}

Error unreadable(const std::filesystem::path& path, int error) {
  return Error(ErrorKind::Io,
               "cannot read " + path.string() + ": " + std::generic_category().message(error));
}

ProcessRanges empty_recording(std::uint32_t pid) {
  ProcessRanges process;
  process.pid = pid;
  process.names.emplace_back();
  process.reading.losses.push_back("nothing of process " + std::to_string(pid) +
                                   " was recorded: there was no space for its file");
  return process;
}

void add_problems(const ProcessRanges& process, std::vector<std::string>& problems) {
  for (const std::string& loss : process.reading.losses) problems.push_back(loss);
  for (const Reading::Skipped& skipped : process.reading.skipped) {
    problems.push_back("the recording of " + process_of(process) +
                       " is damaged: " + skipped.reason + " (" + counted(skipped.count, "time") +
                       ", first at " + skipped.first_position + ")");
  }
  // A forked child may end ranges that its parent opened; these openings are not in its own file.
  if (process.unbalanced > 0 && !process.forked) {
    problems.push_back(process_of(process) + " ended " +
                       counted(process.unbalanced, "range that was", "ranges that were") +
                       " not open");
  }
}

void add(NamedRanges& named, const RecordedRange& range) {
  ++named.instances;
  if (!range.complete) {
    ++named.unfinished;
    return;
  }
  const std::int64_t ns = range.ns();
  const bool is_first = named.instances == named.unfinished + 1;
  named.min_ns = is_first ? ns : std::min(named.min_ns, ns);
  named.max_ns = is_first ? ns : std::max(named.max_ns, ns);
  named.total_ns += ns;
}

}  // namespace

std::string ProcessRanges::label(const RecordedRange& range) const {
  return range.domain == 0 ? name(range) : names[range.domain] + ":" + name(range);
}

Result<ProcessRanges> parse_recording(std::string_view bytes, const std::string& source) {
  const FileHeader header = PL_TRY(header_of(bytes, source));
  ProcessRanges process;
  process.pid = header.pid;
  process.parent_pid = header.parent_pid;
  process.program = internal::as_utf8(header.program);
  process.forked = header.forked == 1;
  process.start_ns = static_cast<std::int64_t>(header.start_ns);
  process.start_unix_ns = static_cast<std::int64_t>(header.start_unix_ns);
  report_losses(header, process);
  const internal::Chunks chunks = internal::find_chunks(bytes, process.reading);
  const internal::NameList names(chunks.names, process.reading);
  process.names = names.names();
  internal::RangeBuilder builder(names, process);
  for (const internal::Lap& lap : chunks.events) builder.add(lap);
  builder.finish();
  return process;
}

std::uint32_t pid_of_recording(std::string_view file_name) {
  const std::string_view prefix = run::files::kRecordedRangesPrefix;
  if (!file_name.starts_with(prefix) || !file_name.ends_with(run::files::kRecordedRangesSuffix)) {
    return 0;
  }
  file_name.remove_prefix(prefix.size());
  std::uint32_t pid = 0;
  const auto [end, error] =
      std::from_chars(file_name.data(), file_name.data() + file_name.size(), pid);
  return error == std::errc() && *end == '-' ? pid : 0;
}

Result<ProcessRanges> read_recording(const std::filesystem::path& path) {
  // Not mapped: on a full tmpfs, reading a page that was never written would be a bus error.
  const std::string bytes = PL_TRY(read_file(path));
  if (bytes.empty()) return empty_recording(pid_of_recording(path.filename().string()));
  return parse_recording(bytes, path.string());
}

Result<RecordedFolder> read_recordings(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entries(folder, failure);
  if (failure) return unreadable(folder, failure.value());
  std::vector<std::filesystem::path> paths;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(failure)) {
    if (failure) return unreadable(folder, failure.value());
    const std::filesystem::path& path = entries->path();
    if (pid_of_recording(path.filename().string()) != 0) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  RecordedFolder recorded;
  if (paths.empty() && ::access(folder.c_str(), W_OK) != 0) {
    recorded.problems.push_back("nothing could be recorded, because " + folder.string() +
                                " cannot be written to: " + std::generic_category().message(errno));
  }
  for (const std::filesystem::path& path : paths) {
    Result<ProcessRanges> process = read_recording(path);
    if (!process) {
      recorded.problems.push_back(process.error().to_string());
      continue;
    }
    add_problems(*process, recorded.problems);
    recorded.processes.push_back(*std::move(process));
  }
  std::stable_sort(
      recorded.processes.begin(), recorded.processes.end(),
      [](const ProcessRanges& a, const ProcessRanges& b) { return a.start_ns < b.start_ns; });
  return recorded;
}

std::vector<NamedRanges> ranges_by_name(std::span<const ProcessRanges> processes) {
  std::map<std::pair<std::string, std::string>, NamedRanges> by_name;
  for (const ProcessRanges& process : processes) {
    std::unordered_map<std::uint64_t, NamedRanges*> known;  // by domain and name
    for (const RecordedRange& range : process.ranges) {
      NamedRanges*& named = known[static_cast<std::uint64_t>(range.domain) << 32 | range.name];
      if (named == nullptr) {
        const std::string& domain = process.names[range.domain];
        named = &by_name[{domain, process.name(range)}];
        named->domain = domain;
        named->name = process.name(range);
      }
      add(*named, range);
    }
  }
  std::vector<NamedRanges> all;
  all.reserve(by_name.size());
  for (auto& [key, named] : by_name) all.push_back(std::move(named));
  std::stable_sort(all.begin(), all.end(), [](const NamedRanges& a, const NamedRanges& b) {
    return a.total_ns > b.total_ns;
  });
  return all;
}

}  // namespace profline::recorder
