#include "records/names.h"

#include "base/error.h"

namespace profline {

Names::Id Names::id_of(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<Id>(texts_.size());
  index_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::optional<Names::Id> Names::find(std::string_view text) const {
  const auto found = index_.find(text);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

const std::string& Names::text(Id id) const {
  PL_ASSERT(id < texts_.size(), "ids come from the table they are used with");
  return texts_[id];
}

}  // namespace profline
