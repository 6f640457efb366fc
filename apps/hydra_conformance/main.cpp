#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "kinds.h"

namespace profline::conformance {
namespace {

constexpr const char* kUsage =
    "usage: hydra_conformance DIR [--answers FILE] [--kind KIND]...\n"
    "\n"
    "Runs every vector in DIR/*.jsonl through the configuration engine and prints each one that\n"
    "differs from what the real Hydra answered. --answers writes the engine's answers, one JSON\n"
    "line each: {\"id\", \"kind\", \"expected\"}. --kind leaves out vectors of other kinds.\n";

struct Arguments {
  std::filesystem::path folder;
  std::optional<std::filesystem::path> answers;
  std::vector<std::string> kinds;  // none: all

  bool wants(const std::string& kind) const {
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
};

Result<Arguments> read_arguments(const std::vector<std::string>& words) {
  Arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--answers" && has_value) {
      out.answers = words[++i];
    } else if (words[i] == "--kind" && has_value) {
      out.kinds.push_back(words[++i]);
    } else if (out.folder.empty() && !words[i].starts_with('-')) {
      out.folder = words[i];
    } else {
      return Error(ErrorKind::Config, "unknown argument '" + words[i] + "'");
    }
  }
  if (out.folder.empty()) return Error(ErrorKind::Config, "the folder of vectors is missing");
  return out;
}

struct Count {
  std::size_t passed = 0;
  std::size_t failed = 0;
};

/// Answers, compares and counts; keeps the answers if requested.
class Run {
 public:
  explicit Run(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<void> check(const Vector& vector) {
    const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                   [&](const Kind& one) { return one.name == vector.kind; });
    Count& count = vector.quirk ? quirks_ : all_;
    if (kind == kinds_.end()) {
      ++count.failed;
      std::printf("%s: kind '%s' is not supported yet\n", vector.id.c_str(), vector.kind.c_str());
      return {};
    }
    const Node answer = kind->answer(vector, folder_);
    const Node line = object({{"id", Node::string(vector.id)},
                              {"kind", Node::string(vector.kind)},
                              {"expected", answer}});
    answers_ += PL_TRY(one_line(line)) + "\n";
    const std::vector<std::string> fields = differences(*kind, vector.expected, answer);
    ++(fields.empty() ? count.passed : count.failed);
    if (fields.empty()) return {};
    return print_failure(vector, answer, fields);
  }

  const std::string& answers() const { return answers_; }

  /// Prints the closing lines; returns whether everything passed.
  bool print_counts() const {
    std::printf("quirks: %zu passed, %zu failed\n", quirks_.passed, quirks_.failed);
    std::printf("%zu passed, %zu failed\n", all_.passed, all_.failed);
    return all_.failed == 0;
  }

 private:
  static Result<std::string> one_line(const Node& tree) { return write_json(tree, {.indent = 0}); }

  static Result<void> print_failure(const Vector& vector, const Node& answer,
                                    const std::vector<std::string>& fields) {
    std::string names;
    for (const std::string& field : fields) names += (names.empty() ? "" : ", ") + field;
    std::printf("%s%s: %s\n  input    %s\n  expected %s\n  got      %s\n", vector.id.c_str(),
                vector.quirk ? " (quirk)" : "", names.c_str(),
                PL_TRY(one_line(vector.input)).c_str(), PL_TRY(one_line(vector.expected)).c_str(),
                PL_TRY(one_line(answer)).c_str());
    return {};
  }

  std::filesystem::path folder_;
  std::vector<Kind> kinds_ = kinds();
  Count all_, quirks_;
  std::string answers_;
};

Result<bool> run(const std::vector<std::string>& words) {
  const Arguments arguments = PL_TRY(read_arguments(words));
  const std::vector<Vector> vectors = PL_TRY(load_vectors(arguments.folder));
  Run run(arguments.folder);
  for (const Vector& vector : vectors) {
    if (!arguments.wants(vector.kind)) continue;
    auto checked = run.check(vector);
    if (!checked) return std::move(checked).error().during(vector.id);
  }
  if (arguments.answers) PL_TRY(write_file_atomic(*arguments.answers, run.answers()));
  return run.print_counts();
}

int main_of(const std::vector<std::string>& words) {
  const auto passed = run(words);
  if (passed) return static_cast<int>(*passed ? ExitCode::Done : ExitCode::Failed);
  std::fprintf(stderr, "hydra_conformance: %s\n", passed.error().to_string().c_str());
  if (passed.error().kind() == ErrorKind::Config) std::fputs(kUsage, stderr);
  return static_cast<int>(exit_code(passed.error().kind()));
}

}  // namespace
}  // namespace profline::conformance

int main(int argc, char** argv) {
  try {
    return profline::conformance::main_of(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "hydra_conformance: %s\n", problem.what());
    return static_cast<int>(profline::ExitCode::Failed);
  }
}
