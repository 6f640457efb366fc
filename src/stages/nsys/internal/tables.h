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

/// One capture, read into memory.
struct ReadCapture {
  NsysCapture about;                   ///< name, range and files; the rest is filled in
  const Timeline* timeline = nullptr;  ///< never null when it is added
  /// The requests that ran during the capture, in order, without those of earlier captures of the
  /// same run; tokens are counted from them if the capture has no ranges of tokens.
  std::span<const Request> requests;
};

/// Adds the rows of a capture. Pure.
void add_capture(const ReadCapture& capture, const kernels::Classifier& classifier,
                 NsysTables& tables);

/// Sorts the rows and adds them up.
void finish(NsysTables& tables);

/// The tables of all captures in the stage's folder.
Result<NsysTables> make_tables(const pipeline::StageContext& context, const run::Run& files,
                               const pipeline::StageRun& run);

/// `kernels.md`: where the time of each range went, and the kernels with the most time.
std::string kernels_page(const NsysTables& tables);

}  // namespace profline::stages::internal
