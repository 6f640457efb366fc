#include "settings/models.h"

namespace profline::settings::deepseek_ocr {

Checks validate(const Preprocess& preprocess) {
  Checks checks;
  if (preprocess.image_size < preprocess.patch_size) {
    checks.fail(preprocess.image_size, "must be at least patch_size");
  }
  if (preprocess.crop_mode && preprocess.base_size < preprocess.patch_size) {
    checks.fail(preprocess.base_size, "must be at least patch_size");
  }
  return checks;
}

Checks validate(const Model& model) {
  Checks checks;
  const bool has_path = model.path && !model.path->empty();
  if (model.init == Init::Weights && !has_path) {
    checks.fail(model.path,
                "must name the folder with the weights when init is weights; the presets "
                "deepseek_ocr.random and deepseek_ocr.tiny need none");
  }
  if (model.init == Init::Weights && model.variant == Variant::Tiny) {
    checks.fail(model.variant,
                "is only for init=random: with init=weights the model's config.json has the sizes");
  }
  return checks;
}

Checks validate(const Infer& infer) {
  Checks checks;
  if (infer.do_sample) {
    if (infer.temperature == 0.0) {
      checks.fail(infer.temperature, "must be above 0 when do_sample is true");
    }
  } else {
    constexpr const char* kUnused = "must be null unless do_sample is true, else it has no effect";
    if (infer.top_k) checks.fail(infer.top_k, kUnused);
    if (infer.top_p) checks.fail(infer.top_p, kUnused);
    if (infer.seed) checks.fail(infer.seed, kUnused);
  }
  if (infer.context_len_mode == ContextLength::Fixed && !infer.context_len_fixed) {
    checks.fail(infer.context_len_fixed, "must be a number when context_len_mode is fixed");
  }
  return checks;
}

}  // namespace profline::settings::deepseek_ocr

namespace profline::settings::dummy_shallow_resnet {

Checks validate(const Model& model) {
  Checks checks;
  if (model.path) {
    checks.fail(model.path, "must be null: the network has no files, its weights are random");
  }
  return checks;
}

}  // namespace profline::settings::dummy_shallow_resnet
