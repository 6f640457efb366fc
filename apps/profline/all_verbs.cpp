// The only file that knows every command.

#include "analyze_command.h"
#include "compare_command.h"
#include "config_command.h"
#include "doctor_command.h"
#include "explain_command.h"
#include "infer_command.h"
#include "kernels_analyze.h"
#include "kernels_profile.h"
#include "kernels_regions.h"
#include "kernels_top.h"
#include "plan_command.h"
#include "report_command.h"
#include "run_command.h"
#include "runs_command.h"
#include "trace_command.h"
#include "verb.h"

namespace profline {

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(std::make_unique<RunVerb>());
  verbs.push_back(std::make_unique<DemoVerb>());
  verbs.push_back(std::make_unique<InferVerb>());
  verbs.push_back(std::make_unique<PlanVerb>());
  verbs.push_back(std::make_unique<ConfigVerb>());
  verbs.push_back(std::make_unique<ExplainVerb>());
  verbs.push_back(std::make_unique<AnalyzeVerb>());
  verbs.push_back(std::make_unique<TraceVerb>());
  verbs.push_back(std::make_unique<KernelsTopVerb>());
  verbs.push_back(std::make_unique<KernelsProfileVerb>());
  verbs.push_back(std::make_unique<KernelsAnalyzeVerb>());
  verbs.push_back(std::make_unique<KernelsRegionsVerb>());
  verbs.push_back(std::make_unique<ReportVerb>());
  verbs.push_back(std::make_unique<CompareVerb>());
  verbs.push_back(std::make_unique<RunsVerb>());
  verbs.push_back(std::make_unique<DoctorVerb>());
  return verbs;
}

}  // namespace profline
