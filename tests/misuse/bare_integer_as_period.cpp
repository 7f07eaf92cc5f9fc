// Three of which unit?
// expect: (cannot convert|could not convert).*'int' to '.*(duration|Duration)
#include "weir/limit.h"

weir::Rate seven_per_three() {
  return weir::Rate{7, 3};
}
