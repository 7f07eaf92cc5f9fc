// A verdict is no number: one that is added up would count a denial as nothing.
// expect: no match for 'operator\+'
#include "weir/engine.h"

int count(const weir::Verdict& verdict) {
  return 1 + verdict;
}
