#include "settings/dummy_shallow_resnet.h"

namespace profline::settings::dummy_shallow_resnet {

Checks validate(const Model& model) {
  Checks checks;
  if (model.path) {
    checks.fail(model.path, "must be null: the network has no files, its weights are random");
  }
  return checks;
}

}  // namespace profline::settings::dummy_shallow_resnet
