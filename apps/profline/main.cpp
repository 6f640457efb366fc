#include <exception>

#include <fmt/core.h>

#include "program.h"

int main(int argc, char** argv) {
  try {
    return static_cast<int>(profline::run_program({argv + 1, argv + argc}));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "profline: bug: {}\n", failure.what());
  } catch (...) {
    fmt::print(stderr, "profline: bug: an exception that is none of C++'s own\n");
  }
  return static_cast<int>(profline::ExitCode::Failed);
}
