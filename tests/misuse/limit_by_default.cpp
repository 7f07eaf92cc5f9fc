// expect: no matching function for call to 'weir::Limit::Limit\(\)'
#include "weir/limit.h"

weir::Limit unlimited() {
  weir::Limit limit;
  return limit;
}
