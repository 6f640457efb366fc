#include "position_json.h"

namespace profline {
namespace {

Node number_or_null(std::uint32_t number) {
  return number == 0 ? Node() : Node::integer(number);
}

}  // namespace

void set_position(const Position& position, NodeMap& entry) {
  entry.set("source", position.source.empty() ? Node() : Node::string(position.source));
  entry.set("line", number_or_null(position.line));
  entry.set("column", number_or_null(position.column));
}

Node problems_json(const std::vector<Error>& problems) {
  Node list = Node::list();
  for (const Error& problem : problems) {
    NodeMap entry;
    entry.set("message", Node::string(problem.message()));
    set_position(problem.position().value_or(Position{}), entry);
    list.as_list().push_back(Node::map(std::move(entry)));
  }
  return list;
}

}  // namespace profline
