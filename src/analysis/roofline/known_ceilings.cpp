#include "analysis/roofline/known_ceilings.h"

#include <algorithm>
#include <set>
#include <utility>

namespace profline::roofline {
namespace {

using settings::Accumulation;
using settings::Ceilings;
using settings::Cores;
using settings::Precision;

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kDatasheet = "datasheet";

/// The highest rate of a kind and the figure that it is from.
struct Highest {
  const CeilingFigure* figure = nullptr;  ///< null: no figure has this name
  std::optional<double> rate{};

  /// `dram read sustained`
  std::string words() const {
    const bool in_burst = figure->burst && figure->burst->value == rate;
    return figure->name + (in_burst ? " in a burst" : " sustained");
  }
};

Highest highest(const MachineCeilings& measured, std::string_view kind, std::string_view prefix) {
  Highest found;
  for (const CeilingFigure& figure : measured.figures) {
    if (figure.kind != kind || !figure.name.starts_with(prefix)) continue;
    const auto rate = figure.highest();
    if (rate && *rate > found.rate.value_or(0)) found = {&figure, rate};
  }
  return found;
}

struct MeasuredRate {
  std::string_view name;  ///< of figures; those of fast accumulation begin with it too
  Cores cores;
  Precision precision;
};
constexpr MeasuredRate kMeasuredRates[] = {
    {"bf16", Cores::Tensor, Precision::Bf16}, {"fp16", Cores::Tensor, Precision::Fp16},
    {"tf32", Cores::Tensor, Precision::Tf32}, {"fp32", Cores::Vector, Precision::Fp32},
    {"fp8", Cores::Tensor, Precision::Fp8},
};

std::string day_of(const std::string& timestamp) {
  return timestamp.substr(0, timestamp.find('T'));
}

Roof roof_of(const Ceilings& ceilings, std::string kind) {
  Roof roof;
  roof.kind = std::move(kind);
  roof.source = ceilings.source;
  roof.bytes_per_second = ceilings.bytes_per_second;
  for (const Ceilings::Rate& rate : ceilings.rates) {
    if (rate.accumulation != Accumulation::Fp32) continue;
    roof.rates.push_back({std::string(to_text(rate.precision)), std::string(to_text(rate.cores)),
                          rate.operations_per_second});
  }
  return roof;
}

bool is_known(const Ceilings& ceilings) {
  return ceilings.bytes_per_second || !ceilings.rates.empty();
}

std::string why_used(const CeilingSources& sources, bool is_measured) {
  if (sources.choice == kDatasheet) return "ceilings=datasheet";
  if (is_measured) {
    return sources.choice == kAuto ? "this device was measured" : "ceilings=" + sources.choice;
  }
  return sources.why_not_measured;
}

}  // namespace

Ceilings measured_ceilings(const MachineCeilings& measured, const Ceilings& datasheet) {
  Ceilings ceilings;
  ceilings.device = measured.device;
  ceilings.is_measured = true;
  ceilings.source = "measured on " + day_of(measured.measured_at);
  const Highest memory = highest(measured, "memory", "dram ");
  const Highest reads = highest(measured, "memory", "dram read");
  ceilings.bytes_per_second = memory.rate;
  ceilings.read_bytes_per_second = reads.rate;
  if (memory.rate) ceilings.source += "; memory: " + memory.words();
  if (reads.rate && reads.figure != memory.figure) {
    ceilings.source += ", floors of phases: " + reads.words();
  }
  for (const MeasuredRate& known : kMeasuredRates) {
    const auto rate = highest(measured, "matrix", known.name).rate;
    if (rate) ceilings.rates.push_back({known.cores, known.precision, Accumulation::Fp32, *rate});
  }
  std::set<std::string> published;
  for (const Ceilings::Rate& rate : datasheet.rates) {
    const bool is_measured =
        std::any_of(ceilings.rates.begin(), ceilings.rates.end(), [&](const Ceilings::Rate& known) {
          return known.cores == rate.cores && known.precision == rate.precision &&
                 (known.accumulation == rate.accumulation ||
                  known.operations_per_second >= rate.operations_per_second);
        });
    if (is_measured) continue;
    ceilings.rates.push_back(rate);
    published.insert(std::string(to_text(rate.cores)) + " " + std::string(to_text(rate.precision)));
  }
  if (!ceilings.bytes_per_second) ceilings.bytes_per_second = datasheet.bytes_per_second;
  if (published.empty()) return ceilings;
  std::string names;
  for (const std::string& name : published) names += (names.empty() ? "" : ", ") + name;
  ceilings.source += "; " + names + " as published: " + datasheet.source;
  return ceilings;
}

Result<KnownCeilings> choose_ceilings(const CeilingSources& sources,
                                      const settings::Environment& environment) {
  KnownCeilings known;
  const bool wants_measured = sources.choice != kDatasheet;
  const bool is_measured = wants_measured && sources.measured.has_value();
  if (wants_measured && !is_measured && sources.choice != kAuto) {
    return Error(ErrorKind::NotFound,
                 "ceilings=" + sources.choice + ": " + sources.why_not_measured);
  }
  std::optional<Ceilings> measured;
  if (sources.measured) measured = measured_ceilings(*sources.measured, sources.datasheet);
  known.used =
      PL_TRY(settings::ceilings_with(is_measured ? *measured : sources.datasheet, environment));
  known.record.device = known.used.device;
  known.record.choice = sources.choice;
  known.record.why = why_used(sources, is_measured);
  if (known.used.is_given) {
    Roof given = roof_of(known.used, "given");
    if (const auto peak = known.used.peak_operations_per_second) {
      given.rates = {{"any", "any", *peak}};
    }
    known.record.roofs.push_back(std::move(given));
    known.record.why = "the environment takes precedence";
  }
  if (measured) known.record.roofs.push_back(roof_of(*measured, "measured"));
  if (is_known(sources.datasheet)) {
    known.record.roofs.push_back(roof_of(sources.datasheet, "datasheet"));
  }
  for (Roof& roof : known.record.roofs) {
    roof.is_used = known.used.is_given ? roof.kind == "given"
                                       : roof.kind == (is_measured ? "measured" : "datasheet");
  }
  return known;
}

}  // namespace profline::roofline
