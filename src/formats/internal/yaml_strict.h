#pragma once

#include <yaml.h>

#include "base/result.h"
#include "formats/internal/yaml_text.h"

namespace profline {

/// Refuses what libyaml's scanner takes and PyYAML's own does not:
///   - a tab between tokens or in a plain scalar (`a:<tab>1`, `a: x<tab>y`);
///   - a question mark in a plain scalar of a flow collection (`[a?]`, `{x: ???}`);
///   - a comment that touches the head of a block scalar (`a: |# text`).
/// It is shown every event of one input in order.
class YamlStrictness {
 public:
  explicit YamlStrictness(const YamlText& text);

  Result<void> check(const yaml_event_t& event, bool in_flow);

 private:
  std::size_t offset_of(const yaml_mark_t& mark);
  Result<void> check_between_scalars(std::size_t from, std::size_t to) const;
  Result<std::size_t> start_of_content(std::size_t from, std::size_t to) const;
  Result<void> check_plain(std::size_t from, std::size_t to, bool in_flow) const;
  Result<void> check_block_head(std::size_t from) const;
  Error tab_error(std::size_t offset) const;

  const YamlText& text_;
  bool has_tabs_;
  bool is_ascii_;
  std::size_t seen_characters_ = 0;  // libyaml's marks count characters; these two lead to bytes
  std::size_t seen_bytes_ = 0;
  std::size_t checked_ = 0;  // bytes
};

}  // namespace profline
