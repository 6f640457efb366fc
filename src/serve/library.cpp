#include "serve/library.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/strings.h"
#include "catalog/history.h"
#include "sweep/sweep.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;
using catalog::KnownRun;
using run_index::IndexedRun;

std::string id_of(const fs::path& root, const std::string& folder,
                  const std::vector<fs::path>& roots) {
  if (roots.size() == 1) return folder;
  const auto at = std::find(roots.begin(), roots.end(), root);
  return std::to_string(at - roots.begin() + 1) + ":" + folder;
}

std::string haystack_of(const IndexedRun& run) {
  std::string all;
  for (const std::string* text :
       {&run.folder, &run.id, &run.experiment, &run.model, &run.program, &run.device,
        &run.device_name, &run.host, &run.commit, &run.state}) {
    all += lower(*text) + '\n';
  }
  return all;
}

/// Runs that differ in their configuration at most have the same key: catalog::are_related().
std::string related_key(const KnownRun& run) {
  const IndexedRun& row = run.row;
  std::string key = run.root.string();
  for (const std::string& part : {row.experiment, row.model, row.program, row.device_name,
                                  row.device.substr(0, row.device.find(':'))}) {
    key += '\0' + part;
  }
  return key;
}

/// Runs that are in one series have the same key: catalog::are_comparable().
std::string series_key(const KnownRun& run) {
  return related_key(run) + '\0' + run.row.configuration;
}

/// For each series, the runs of related ones.
std::vector<std::size_t> related_runs(const Snapshot& snapshot) {
  std::map<std::string, std::size_t> runs;
  const auto key = [&](const std::vector<std::size_t>& series) {
    return related_key(snapshot.runs[series.front()].known);
  };
  for (const auto& series : snapshot.series) runs[key(series)] += series.size();
  std::vector<std::size_t> others;
  for (const auto& series : snapshot.series) others.push_back(runs[key(series)] - series.size());
  return others;
}

bool are_same(const std::vector<KnownRun>& a, const Snapshot& b) {
  return std::equal(a.begin(), a.end(), b.runs.begin(), b.runs.end(),
                    [](const KnownRun& run, const ListedRun& listed) {
                      return run.folder == listed.known.folder && run.row == listed.known.row;
                    });
}

}  // namespace

const ListedRun* Snapshot::find(std::string_view id) const {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &runs[found->second];
}

const ListedSweep* Snapshot::find_sweep(std::string_view id) const {
  const auto found = std::find_if(sweeps.begin(), sweeps.end(),
                                  [&](const ListedSweep& each) { return each.id == id; });
  return found == sweeps.end() ? nullptr : &*found;
}

Snapshot snapshot_of(const std::vector<KnownRun>& runs, const std::vector<fs::path>& roots) {
  Snapshot snapshot;
  std::map<std::string, std::size_t> series;
  snapshot.runs.reserve(runs.size());
  for (const KnownRun& run : runs) {
    const std::size_t index = snapshot.runs.size();
    const auto [place, is_new] = series.try_emplace(series_key(run), snapshot.series.size());
    if (is_new) snapshot.series.emplace_back();
    std::vector<std::size_t>& members = snapshot.series[place->second];
    snapshot.runs.push_back({run, id_of(run.root, run.row.folder, roots), haystack_of(run.row),
                             place->second, members.size()});
    members.push_back(index);
    snapshot.by_id.emplace(snapshot.runs.back().id, index);
  }
  snapshot.configured_otherwise = related_runs(snapshot);
  return snapshot;
}

std::vector<ListedSweep> sweeps_below(const std::vector<fs::path>& roots) {
  std::vector<ListedSweep> sweeps;
  for (const fs::path& root : roots) {
    std::error_code failure;
    for (fs::directory_iterator at(root, failure), end; !failure && at != end;
         at.increment(failure)) {
      std::error_code gone;
      const std::string name = at->path().filename().string();
      const bool is_own = !name.starts_with('.') && !at->is_symlink(gone) && at->is_directory(gone);
      if (is_own && sweep::holds_sweep(at->path())) {
        sweeps.push_back({at->path(), id_of(root, name, roots)});
      }
    }
  }
  std::sort(sweeps.begin(), sweeps.end(), [](const ListedSweep& a, const ListedSweep& b) {
    return a.folder.filename() > b.folder.filename();
  });
  return sweeps;
}

Library::Library(catalog::Catalog catalog)
    : catalog_(std::move(catalog)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

Library::~Library() {
  thread_.request_stop();
  thread_.join();
}

void Library::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return is_wanted_; })) return;
      is_wanted_ = false;
    }
    read_again();
  }
}

void Library::read_again() {
  // What can be read is shown; what cannot is a note.
  catalog_.refresh();
  std::vector<std::string> notes = catalog_.notes();
  std::shared_ptr<const Snapshot> before;
  {
    const std::scoped_lock lock(mutex_);
    before = snapshot_;
  }
  std::vector<ListedSweep> sweeps = sweeps_below(catalog_.roots());
  const bool is_same = before != nullptr && before->notes == notes && before->sweeps == sweeps &&
                       are_same(catalog_.runs(), *before);
  std::shared_ptr<const Snapshot> now = before;
  if (!is_same) {
    auto made = std::make_shared<Snapshot>(snapshot_of(catalog_.runs(), catalog_.roots()));
    made->notes = std::move(notes);
    made->sweeps = std::move(sweeps);
    made->generation = before == nullptr ? 1 : before->generation + 1;
    now = std::move(made);
  }
  const std::scoped_lock lock(mutex_);
  snapshot_ = std::move(now);
  read_at_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

std::shared_ptr<const Snapshot> Library::current() {
  std::unique_lock lock(mutex_);
  const auto asked = std::chrono::steady_clock::now();
  const auto is_fresh = [&] { return snapshot_ != nullptr && asked - read_at_ < kFresh; };
  if (!is_fresh()) {
    is_wanted_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, snapshot_ == nullptr ? kFirstPatience : kPatience, is_fresh);
  }
  return snapshot_;
}

}  // namespace profline::serve
