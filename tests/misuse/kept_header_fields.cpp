// Header fields are views into their own object: a copy would refer to the original.
// expect: use of deleted function
// 'weir::HeaderFields::HeaderFields\(const weir::HeaderFields&\)'
#include "weir/engine.h"

weir::HeaderFields keep(const weir::HeaderFields& fields) {
  return fields;
}
