// How answers are written, at every door; may change while the server runs.
#pragma once

#include "weir/time.h"
#include "wire/fields/answer_fields.h"

namespace weir::door {

struct Settings {
  wire::FieldChoice fields;
  Duration retry_jitter{};  // at most so much is added to Retry-After, at random, to spread those who come back
};

}  // namespace weir::door
