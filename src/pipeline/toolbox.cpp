#include "pipeline/toolbox.h"

#include "process/find_program.h"

namespace profline::pipeline {
namespace {

template <typename Installation>
Result<Installation> find_and_probe(ProcessRunner& processes, const std::string& name,
                                    Result<Installation> (*probe)(ProcessRunner&,
                                                                  const std::filesystem::path&)) {
  return probe(processes, PL_TRY(find_program(name)));
}

}  // namespace

Toolbox survey(const Survey& survey, ProcessRunner& processes) {
  Toolbox tools;
  if (survey.driver) tools.driver = gpu::load_driver();
  if (survey.workload) tools.workload = survey.find_workload();
  if (survey.nsys) tools.nsys = find_and_probe(processes, survey.nsys_program, &nsys::probe);
  if (survey.ncu) tools.ncu = find_and_probe(processes, survey.ncu_program, &ncu::probe);
  return tools;
}

}  // namespace profline::pipeline
