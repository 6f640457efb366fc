#pragma once

#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/exit_code.h"
#include "base/result.h"

namespace profline {

/// What the programs beside profline have in common: help, usage errors, Errors and stray
/// exceptions are told in the program's name, each with its exit code. `body` runs once the
/// command line is read and returns Result<ExitCode>.
template <typename Body>
int run_program(CLI::App& app, int argc, char** argv, const Body& body) {
  const auto told = [&](const char* problem, ExitCode code) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), problem);
    return static_cast<int>(code);
  };
  try {
    app.parse(argc, argv);
    const Result<ExitCode> done = body();
    if (done) return static_cast<int>(*done);
    for (const Error& problem : done.error().each()) {
      told(problem.to_string().c_str(), ExitCode::Failed);
    }
    return static_cast<int>(exit_code(done.error().kind()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return static_cast<int>(ExitCode::Done);
  } catch (const CLI::ParseError& failure) {
    return told(failure.what(), ExitCode::BadInput);
  } catch (const std::exception& failure) {
    return told(failure.what(), ExitCode::Failed);
  } catch (...) {
    return told("an exception that is none of C++'s own", ExitCode::Failed);
  }
}

}  // namespace profline
