#include "analysis/kernels/join.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/kernels/canonical_name.h"

namespace profline::kernels {
namespace {

using Shape = std::vector<std::uint32_t>;  // grid or block; empty: not known

/// Rows of one table with the same name, namespaces and shape.
struct Spelling {
  std::size_t table = 0;
  const CanonicalName* name = nullptr;
  Shape grid;
  Shape block;
  bool function_only = false;
  std::vector<std::size_t> rows;
};

/// Some tools write zeros for a shape that they do not know.
Shape if_known(const Shape& shape) {
  const bool is_known = std::any_of(shape.begin(), shape.end(), [](auto n) { return n > 0; });
  return is_known ? shape : Shape();
}

bool shapes_agree(const Spelling& a, const Spelling& b) {
  const auto agree = [](const Shape& x, const Shape& y) {
    return x == y || x.empty() || y.empty();
  };
  return agree(a.grid, b.grid) && agree(a.block, b.block);
}

bool names_agree(const Spelling& a, const Spelling& b) {
  if (a.function_only || b.function_only) return a.name->function == b.name->function;
  return compatible(*a.name, *b.name);
}

bool can_be_one(const Spelling& a, const Spelling& b) {
  return a.table != b.table && shapes_agree(a, b) && names_agree(a, b);
}

/// Spellings that are linked, directly or indirectly.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) {
    while (parent_[item] != item) {
      parent_[item] = parent_[parent_[item]];
      item = parent_[item];
    }
    return item;
  }
  void unite(std::size_t a, std::size_t b) {
    a = of(a);
    b = of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

class Join {
 public:
  explicit Join(std::span<const KernelTable> tables) : tables_(tables) {}
  Joined run();

 private:
  void find_spellings();
  void link(Groups& groups) const;
  JoinedKernel kernel_of(const std::vector<std::size_t>& members) const;
  void judge(JoinedKernel& kernel, const std::vector<std::size_t>& members) const;
  std::string list_of(const std::vector<std::string>& tools) const;

  std::span<const KernelTable> tables_;
  std::unordered_map<std::string, CanonicalName> names_;  // by the tools' spelling
  std::vector<Spelling> spellings_;
};

void Join::find_spellings() {
  std::map<std::tuple<std::size_t, std::string, Shape, Shape>, std::size_t> known;
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    for (std::size_t row = 0; row < tables_[table].rows.size(); ++row) {
      const KernelUse& given = tables_[table].rows[row];
      const auto [name, is_new] = names_.try_emplace(given.printed_name);
      if (is_new) name->second = canonical_name(given.printed_name);
      const Shape grid = if_known(given.grid);
      const Shape block = if_known(given.block);
      const auto [place, is_first] =
          known.try_emplace(std::tuple(table, name->second.full, grid, block), spellings_.size());
      if (is_first) {
        const bool function_only = tables_[table].function_names_only;
        spellings_.push_back({table, &name->second, grid, block, function_only, {}});
      }
      spellings_[place->second].rows.push_back(row);
    }
  }
}

void Join::link(Groups& groups) const {
  // Only spellings with the same key, or the same function name if a table has nothing more, can
  // belong to one kernel.
  const bool by_function =
      std::any_of(tables_.begin(), tables_.end(),
                  [](const KernelTable& table) { return table.function_names_only; });
  std::unordered_map<std::string_view, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < spellings_.size(); ++i) {
    const CanonicalName& name = *spellings_[i].name;
    alike[by_function ? name.function : name.key].push_back(i);
  }
  for (const auto& [key, members] : alike) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        if (can_be_one(spellings_[members[i]], spellings_[members[j]])) {
          groups.unite(members[i], members[j]);
        }
      }
    }
  }
}

std::string Join::list_of(const std::vector<std::string>& tools) const {
  std::string text;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (i > 0) text += i + 1 == tools.size() ? " and " : ", ";
    text += tools[i];
  }
  return text;
}

void Join::judge(JoinedKernel& kernel, const std::vector<std::size_t>& members) const {
  std::vector<std::size_t> count(tables_.size());
  for (const std::size_t member : members) ++count[spellings_[member].table];
  std::vector<std::string> without;
  std::vector<std::string> several;
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    if (count[table] == 0) without.push_back(tables_[table].tool);
    if (count[table] > 1) {
      several.push_back(std::to_string(count[table]) + " of " + tables_[table].tool);
    }
  }
  if (!several.empty()) {
    kernel.state = JoinState::Ambiguous;
    kernel.reason = list_of(several) + " agree in name and shape with one kernel of another table";
  } else if (!without.empty()) {
    kernel.state = JoinState::Unmatched;
    kernel.reason = "not in " + list_of(without);
  } else {
    kernel.state = JoinState::Matched;
  }
}

JoinedKernel Join::kernel_of(const std::vector<std::size_t>& members) const {
  JoinedKernel kernel;
  kernel.rows.resize(tables_.size());
  for (const std::size_t member : members) {
    const Spelling& spelling = spellings_[member];
    std::vector<std::size_t>& rows = kernel.rows[spelling.table];
    rows.insert(rows.end(), spelling.rows.begin(), spelling.rows.end());
    if (spelling.name->full.size() > kernel.name.size()) {
      kernel.name = spelling.name->full;
      kernel.short_name = spelling.name->short_name;
    }
    if (kernel.grid.empty()) kernel.grid = spelling.grid;
    if (kernel.block.empty()) kernel.block = spelling.block;
  }
  for (std::vector<std::size_t>& rows : kernel.rows) std::sort(rows.begin(), rows.end());
  judge(kernel, members);
  return kernel;
}

Joined Join::run() {
  find_spellings();
  Groups groups(spellings_.size());
  link(groups);
  std::map<std::size_t, std::vector<std::size_t>> by_group;  // keyed by the first member
  for (std::size_t i = 0; i < spellings_.size(); ++i) by_group[groups.of(i)].push_back(i);
  Joined joined;
  std::int64_t all_ns = 0;
  std::int64_t matched_ns = 0;
  for (const auto& [first, members] : by_group) {
    joined.kernels.push_back(kernel_of(members));
    const JoinedKernel& kernel = joined.kernels.back();
    for (const std::size_t row : kernel.rows.front()) {
      const std::int64_t time_ns = tables_.front().rows[row].total_ns;
      all_ns += time_ns;
      if (kernel.state == JoinState::Matched) matched_ns += time_ns;
    }
  }
  if (all_ns > 0)
    joined.matched_share = static_cast<double>(matched_ns) / static_cast<double>(all_ns);
  return joined;
}

}  // namespace

Joined join(std::span<const KernelTable> tables) {
  if (tables.empty()) return {};
  return Join(tables).run();
}

}  // namespace profline::kernels
