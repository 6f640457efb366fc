#pragma once

#include <span>
#include <string>

#include "pipeline/stage.h"
#include "stages/nsys/internal/captures.h"
#include "stages/program_gate/program_gate.h"

/// What opens the capture of a user's program if `pipeline.nsys` does not say so.
namespace profline::stages::internal {

/// Whether the stage takes its gate from the baseline: a program, and no setting that names one.
bool takes_baselines_gate(const pipeline::RunSetup& setup);

/// The forms of the capture that the plan has, in the order of preference.
std::span<const CaptureGate> gate_kinds();

/// The setup as if the user had set this gate.
pipeline::RunSetup gated(const pipeline::RunSetup& setup, CaptureGate kind);

/// The setup of the capture that was made: of the gate in the stage's folder.
pipeline::RunSetup as_captured(const pipeline::RunSetup& setup);

/// `capture`, `capture requests`, `capture ranges`
std::string capture_name(CaptureGate kind);

/// Whether a gated capture left nothing because its gate never opened, although the program ended
/// as it should.
bool never_opened(const NsysSession& session, const Exit& exit);

/// The captures of warm-up requests: nsys records from the first on. They are deleted.
void drop_warm_up(const NsysSession& session, const ProgramGate& gate);

}  // namespace profline::stages::internal
