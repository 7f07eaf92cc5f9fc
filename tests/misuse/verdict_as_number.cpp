// A verdict is not a number: in a sum, a denial would count as zero.
// expect: no match for 'operator\+'
#include "weir/engine.h"

int count(const weir::Verdict& verdict) {
  return 1 + verdict;
}
