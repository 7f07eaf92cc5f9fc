// expect: narrowing conversion of '.*5'? ?.*from 'double'
#include "weir/cost.h"

weir::Cost one_and_a_half() {
  return weir::Cost{1.5};
}
