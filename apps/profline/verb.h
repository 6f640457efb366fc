#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/error.h"
#include "base/result.h"
#include "session/services.h"

namespace profline {

using session::Services;

/// An Error about how a command is used.
inline Error usage(std::string message) {
  return Error(ErrorKind::Config, std::move(message)).with_reason("usage");
}

enum class OutputFormat { Text, Json };

/// The format of results and messages; every command takes these options.
struct OutputOptions {
  OutputFormat format = OutputFormat::Text;
  int verbosity = 0;  ///< each -v adds one, each -q subtracts one
};

/// A command as invoked by the user.
struct Invocation {
  OutputOptions output;
  Arguments arguments;              ///< without the command's own words
  std::vector<std::string> argv{};  ///< as typed, for the record
};

/// An example in the help, and what it does.
struct Example {
  std::string_view command;
  std::string_view purpose;
};

/// One command of profline (`profline doctor`): declares its options, then runs.
class Verb {
 public:
  virtual ~Verb() = default;
  /// One word, or two if several commands share the first: `kernels top`.
  virtual std::string_view name() const = 0;
  /// One line for the list of commands; lower case, no full stop.
  virtual std::string_view summary() const = 0;
  /// Its arguments as shown in the help: `KEY [OVERRIDES]`. Empty: it takes none.
  virtual std::string_view words() const { return {}; }
  /// Whether `-- PROGRAM...` is the program to profile; otherwise what follows `--` are words.
  virtual bool takes_program() const { return false; }
  /// Examples at the end of its help; at least one.
  virtual std::vector<Example> examples() const = 0;
  virtual std::vector<Option> options() const = 0;
  /// Prints its result to stdout. An Error is printed by the caller and chooses the exit code.
  virtual Result<ExitCode> run(const Services& services, const Invocation& invocation) const = 0;
};

// Each is defined in the file named after it: run_command.cpp, kernels_top.cpp.

std::unique_ptr<Verb> run_verb();
std::unique_ptr<Verb> demo_verb();
std::unique_ptr<Verb> infer_verb();
std::unique_ptr<Verb> load_verb();
std::unique_ptr<Verb> plan_verb();
std::unique_ptr<Verb> config_verb();
std::unique_ptr<Verb> explain_verb();
std::unique_ptr<Verb> analyze_verb();
std::unique_ptr<Verb> trace_verb();
std::unique_ptr<Verb> ranks_verb();
std::unique_ptr<Verb> kernels_top_verb();
std::unique_ptr<Verb> kernels_profile_verb();
std::unique_ptr<Verb> kernels_analyze_verb();
std::unique_ptr<Verb> kernels_regions_verb();
std::unique_ptr<Verb> report_verb();
std::unique_ptr<Verb> compare_verb();
std::unique_ptr<Verb> runs_verb();
std::unique_ptr<Verb> rank_exec_verb();
std::unique_ptr<Verb> ceilings_verb();
std::unique_ptr<Verb> mcp_verb();
std::unique_ptr<Verb> serve_verb();
std::unique_ptr<Verb> doctor_verb();
/// The commands about sweeps: sweep_commands.cpp.
std::vector<std::unique_ptr<Verb>> sweep_verbs();

}  // namespace profline
