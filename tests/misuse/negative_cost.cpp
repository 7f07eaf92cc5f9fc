// expect: narrowing conversion of '-1'
#include "weir/cost.h"

weir::Cost less_than_nothing() {
  return weir::Cost{-1};
}
