#include "vectors.h"

#include <algorithm>
#include <system_error>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"

namespace profline::conformance {
namespace {

Result<std::string> string_field(const Node& line, std::string_view name) {
  const Node* field = line.find(name);
  if (field != nullptr && field->is_string()) return field->as_string();
  return Error(ErrorKind::Parse, "no text '" + std::string(name) + "'", line.position());
}

Result<Node> map_field(const Node& line, std::string_view name) {
  const Node* field = line.find(name);
  if (field != nullptr && field->is_map()) return *field;
  return Error(ErrorKind::Parse, "no object '" + std::string(name) + "'", line.position());
}

Result<Vector> to_vector(const Node& line) {
  Vector out;
  out.id = PL_TRY(string_field(line, "id"));
  out.kind = PL_TRY(string_field(line, "kind"));
  out.input = PL_TRY(map_field(line, "input"));
  out.expected = PL_TRY(map_field(line, "expected"));
  if (const Node* needs = line.find("needs")) out.needs = *needs;
  const Node* quirk = line.find("quirk");
  out.quirk = quirk != nullptr && quirk->is_bool() && quirk->as_bool();
  return out;
}

Result<void> load_file(const std::filesystem::path& path, std::vector<Vector>& out) {
  const std::string text = PL_TRY(read_file(path));
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    const std::string source = path.filename().string() + ":" + std::to_string(++number);
    if (trim(line).empty()) continue;
    const Node tree = PL_TRY(parse_json(line, source));
    out.push_back(PL_TRY(to_vector(tree)));
  }
  return {};
}

}  // namespace

Result<std::vector<Vector>> load_vectors(const std::filesystem::path& folder) {
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (problem) {
    return Error(ErrorKind::NotFound,
                 "cannot list the vectors in " + folder.string() + ": " + problem.message());
  }
  if (files.empty()) return Error(ErrorKind::NotFound, "no *.jsonl in " + folder.string());
  std::sort(files.begin(), files.end());
  std::vector<Vector> out;
  for (const std::filesystem::path& file : files) PL_TRY(load_file(file, out));
  return out;
}

}  // namespace profline::conformance
