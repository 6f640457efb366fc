#include "pipeline/toolbox.h"

#include "process/find_program.h"

namespace profline::pipeline {
namespace {

Result<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name) {
  return nsys::survey(processes, PL_TRY(nsys::choose_nsys(processes, name)));
}

Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name,
                                   bool has_gpu) {
  return ncu::survey(processes, PL_TRY(find_program(name)), has_gpu);
}

std::string absolute_name(const std::filesystem::path& program) {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::absolute(program, failure);
  return failure ? program.string() : path.lexically_normal().string();
}

}  // namespace

Toolbox survey(const Survey& survey, ProcessRunner& processes) {
  Toolbox tools;
  tools.driver = survey.driver;
  if (survey.workload) tools.workload = survey.find_workload();
  if (survey.nsys) tools.nsys = find_nsys(processes, survey.nsys_program);
  const bool has_gpu = tools.driver && *tools.driver;
  if (survey.ncu) tools.ncu = find_ncu(processes, survey.ncu_program, has_gpu);
  return tools;
}

ToolsRecord remembered_tools(const Toolbox& tools, ToolsRecord before) {
  ToolsRecord remembered = std::move(before);
  if (tools.workload && *tools.workload) remembered.workload = absolute_name(**tools.workload);
  if (tools.nsys && *tools.nsys) remembered.nsys = absolute_name((*tools.nsys)->program);
  if (tools.ncu && *tools.ncu) remembered.ncu = absolute_name((*tools.ncu)->program);
  return remembered;
}

}  // namespace profline::pipeline
