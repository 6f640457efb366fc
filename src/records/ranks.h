#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "records/run_record.h"
#include "schema/field.h"

/// The ranks of a program that a launcher starts several times; docs/formats/ranks_record.md
/// describes the files. What rank R of a stage produced lies in `STAGE/ranks/R/`, under the names
/// that a single process would have used in `STAGE/`.
namespace profline {

/// `STAGE/ranks/R/rank.json`: one rank in one stage, written when its process starts and again when
/// it ends, on the rank's own node.
struct RankProcess {
  static constexpr DocumentKind kKind{"rank", 1};

  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string node{};
  std::string host{};
  std::int64_t pid = 0;
  bool profiled = false;
  std::int64_t started_ns = 0;
  std::optional<std::int64_t> ended_ns{};
  std::optional<int> code{};
  std::optional<int> signal{};
  std::string end{};
  bool stopped = false;
  std::string last_words{};
  std::vector<Finding> findings{};

  bool operator==(const RankProcess&) const = default;
};
constexpr auto fields(std::type_identity<RankProcess>) {
  return field_list(
      field("rank", &RankProcess::rank, "number among all ranks, from 0").required(),
      field("local_rank", &RankProcess::local_rank, "number among the ranks of its node"),
      field("node", &RankProcess::node, "as the launcher names it; otherwise the host"),
      field("host", &RankProcess::host, "the machine's own name"),
      field("pid", &RankProcess::pid,
            "of the program, or of the profiler that started it, on its node; 0: never started"),
      field("profiled", &RankProcess::profiled, "whether a profiler observed this rank"),
      field("started_ns", &RankProcess::started_ns, "by its node's clock, since 1970"),
      field("ended_ns", &RankProcess::ended_ns, "the same; null: its end was not recorded"),
      field("code", &RankProcess::code, "its exit code; null: ended by a signal, or not recorded"),
      field("signal", &RankProcess::signal, "the signal that ended it"),
      field("end", &RankProcess::end, "how it ended, in words"),
      field("stopped", &RankProcess::stopped,
            "the launcher asked it to end, so its own end says nothing"),
      field("last_words", &RankProcess::last_words, "the last line that it printed, if it failed"),
      field("findings", &RankProcess::findings, "what was noticed on its node"));
}

/// A rank in one stage, as part of ranks.json.
struct RankInStage {
  std::string stage{};
  std::string folder{};
  std::int64_t pid = 0;
  bool profiled = false;
  std::int64_t started_ns = 0;
  std::optional<std::int64_t> ended_ns{};
  std::optional<int> code{};
  std::optional<int> signal{};
  bool stopped = false;
  std::string why{};

  bool operator==(const RankInStage&) const = default;
};
constexpr auto fields(std::type_identity<RankInStage>) {
  return field_list(
      field("stage", &RankInStage::stage, "baseline, torch_profiler, nsys").required(),
      field("folder", &RankInStage::folder, "its files: baseline/ranks/0").required(),
      field("pid", &RankInStage::pid, "of the program, or of the profiler that started it"),
      field("profiled", &RankInStage::profiled, "whether a profiler observed this rank"),
      field("started_ns", &RankInStage::started_ns, "by its node's clock, since 1970"),
      field("ended_ns", &RankInStage::ended_ns, "the same; null: its end was not recorded"),
      field("code", &RankInStage::code, "its exit code; null: ended by a signal, or not recorded"),
      field("signal", &RankInStage::signal, "the signal that ended it"),
      field("stopped", &RankInStage::stopped,
            "the launcher asked it to end, so its own end says nothing"),
      field("why", &RankInStage::why, "why it did not succeed; empty: it did"));
}

/// One rank of a run.
struct RankRecord {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string node{};
  std::string host{};
  std::int64_t pid = 0;
  std::optional<int> code{};
  std::optional<int> signal{};
  bool profiled = false;
  std::vector<std::string> stages{};
  std::string why{};
  std::vector<RankInStage> processes{};

  bool operator==(const RankRecord&) const = default;
};
constexpr auto fields(std::type_identity<RankRecord>) {
  return field_list(
      field("rank", &RankRecord::rank, "number among all ranks, from 0").required(),
      field("local_rank", &RankRecord::local_rank, "number among the ranks of its node"),
      field("node", &RankRecord::node, "as the launcher names it; otherwise the host"),
      field("host", &RankRecord::host, "the machine's own name"),
      field("pid", &RankRecord::pid, "in the first stage in which it failed, otherwise the last"),
      field("code", &RankRecord::code, "its exit code there"),
      field("signal", &RankRecord::signal, "the signal that ended it there"),
      field("profiled", &RankRecord::profiled, "whether profilers observe this rank"),
      field("stages", &RankRecord::stages, "the stages that it ran in; STAGE/ranks/RANK has files"),
      field("why", &RankRecord::why, "why it did not succeed; empty: it did"),
      field("processes", &RankRecord::processes, "one entry per stage"));
}

/// `ranks.json`, at the top of a run whose program has ranks.
struct Ranks {
  static constexpr DocumentKind kKind{"ranks", 1};

  std::string launcher{};
  std::uint32_t n = 0;
  std::optional<std::uint32_t> per_node{};
  std::vector<RankRecord> ranks{};

  bool operator==(const Ranks&) const = default;
};
constexpr auto fields(std::type_identity<Ranks>) {
  return field_list(
      field("launcher", &Ranks::launcher, "srun, mpirun or torchrun").required(),
      field("n", &Ranks::n, "how many ranks were asked for").required(),
      field("per_node", &Ranks::per_node, "ranks per node; null: the launcher decides"),
      field("ranks", &Ranks::ranks, "those that started, by number"));
}

}  // namespace profline
