#pragma once

#include "base/redaction.h"
#include "formats/node.h"

namespace profline {

/// The tree with secrets replaced: what stands under a key whose name says so, what an option in a
/// list of words is given, and in other strings what the redactor finds there. Keys stay, and so do
/// numbers, booleans and null unless their key says that they are secrets.
Node redacted(const Node& tree, const Redactor& redactor);

/// Makes the redactor know the values that names mark as secrets, so that it finds them in text
/// too.
void know_secrets(const Node& tree, Redactor& redactor);

/// The values of `tree` that differ in `redacted`, under their keys; null when none does. A list is
/// one value.
Node redacted_part(const Node& tree, const Node& redacted);

/// Puts such values back into a redacted tree.
void restore(Node& tree, const Node& part);

}  // namespace profline
