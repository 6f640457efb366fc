#include <exception>
#include <new>
#include <string>

#include "command_line.h"
#include "standard_streams.h"

int main(int argc, char** argv) {
  try {
    return static_cast<int>(profline::run_program({argv + 1, argv + argc}));
  } catch (const std::bad_alloc&) {
    profline::print_remark("profline: out of memory");
  } catch (const std::exception& failure) {
    profline::print_remark(std::string("profline: bug: ") + failure.what());
  } catch (...) {
    profline::print_remark("profline: bug: an exception that is not a std::exception");
  }
  return static_cast<int>(profline::ExitCode::Failed);
}
