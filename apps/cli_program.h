#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/result.h"

namespace profline {

struct ProgramText {
  const char* name;
  const char* description;
};

/// The `main` of the programs other than profline. Prints help, and reports usage errors, Errors
/// and uncaught exceptions in the program's name, each with its exit code. `declare(app, options)`
/// adds the options; `body(app, options)` runs once the command line is parsed and returns
/// Result<ExitCode>.
template <typename Options, typename Declare, typename Body>
int run_program(const ProgramText& text, int argc, char** argv, const Declare& declare,
                const Body& body) noexcept {
  const auto report = [&](const char* problem, ExitCode code) {
    std::fprintf(stderr, "%s: %s\n", text.name, problem);
    return static_cast<int>(code);
  };
  try {
    CLI::App app(text.description, text.name);
    Options options;
    declare(app, options);
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      std::fputs(app.help().c_str(), stdout);
      return static_cast<int>(ExitCode::Done);
    } catch (const CLI::ParseError& failure) {
      return report(failure.what(), ExitCode::BadInput);
    }
    const Result<ExitCode> done = body(app, options);
    if (done) return static_cast<int>(*done);
    for (const Error& problem : done.error().each()) {
      report(problem.to_string().c_str(), ExitCode::Failed);
    }
    return static_cast<int>(exit_code(done.error().kind()));
  } catch (const std::exception& failure) {
    return report(failure.what(), ExitCode::Failed);
  } catch (...) {
    return report("an exception that is not a std::exception", ExitCode::Failed);
  }
}

}  // namespace profline
