// Header fields are views of their own memory: a copy would view that of another.
// expect: use of deleted function 'weir::HeaderFields::HeaderFields\(const weir::HeaderFields&\)'
#include "weir/engine.h"

weir::HeaderFields keep(const weir::HeaderFields& fields) {
  return fields;
}
