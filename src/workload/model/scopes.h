#pragma once

#include "records/range_use.h"

namespace profline::workload {

/// The named parts of a run, used by NVTX ranges, RECORD_FUNCTION scopes and times alike. `prefill`
/// contains sam, clip, projector and lm; `decode` contains one decode_step per token.
namespace scope {
constexpr const char* kPrefill = "prefill";
constexpr const char* kSam = "sam";
constexpr const char* kClip = "clip";
constexpr const char* kProjector = "projector";
constexpr const char* kLm = "lm";
constexpr const char* kDecode = "decode";
constexpr const char* kDecodeStep = kTokenRange.data();
}  // namespace scope

/// Notified when a named part of the run begins and ends, properly nested. This one does nothing;
/// measuring classes derive from it.
class Scopes {
 public:
  virtual ~Scopes() = default;
  /// `name` is one of those above and outlives everything.
  virtual void enter(const char* name) { static_cast<void>(name); }
  virtual void leave() {}
};

/// One part, from here to the end of the block.
class Scope {
 public:
  Scope(Scopes& scopes, const char* name) : scopes_(scopes) { scopes_.enter(name); }
  ~Scope() { scopes_.leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Scopes& scopes_;
};

}  // namespace profline::workload
