#include "config/load.h"
#include "encode.h"
#include "kinds.h"

namespace profline::conformance {

Node answer_yaml(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const Node* yaml = vector.input.find("yaml");
  if (yaml == nullptr || !yaml->is_string()) {
    return failure(Error(ErrorKind::Parse, "the vector has no YAML text"));
  }
  const Result<Node> tree = config::load_config(yaml->as_string(), "config.yaml");
  if (!tree) return failure(tree.error());
  return object({{"ok", Node::boolean(true)}, {"value", encode(*tree)}});
}

}  // namespace profline::conformance
