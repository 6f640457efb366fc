#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "pipeline/stage.h"
#include "records/kernel_use.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/timeline.h"

namespace profline::stages::internal {

struct NsysTables {
  NsysKernels kernels;
  NsysRanges ranges;
};

/// One capture that was read.
struct ReadCapture {
  NsysCapture about;  ///< name, range and files; the rest is filled in
  Timeline timeline;
  /// The requests that ran while it was captured, in order; tokens are counted from them where the
  /// capture has no ranges of tokens. Those of earlier captures of the same run are left out.
  std::span<const Request> requests;
};

/// Adds the rows of a capture. Pure.
void add_capture(const ReadCapture& capture, const kernels::Classifier& classifier,
                 NsysTables& tables);

/// Brings the rows into their order and sums them up.
void finish(NsysTables& tables);

/// The tables of all captures in the stage's folder, which are handed on to the reports.
Result<NsysTables> make_tables(const pipeline::StageContext& context, pipeline::StageRun& run);

/// `kernels.md`: where the time of each range went, and the kernels with most time.
std::string kernels_page(const NsysTables& tables);

}  // namespace profline::stages::internal
