// Compiles with warnings, and without an error: whoever links Weir is not warned by its rules.
#include <weir/weir.h>

int careless(unsigned number) {
  const int shadow = number;
  {
    const int shadow = (int)number / 2;
    if (shadow < number) return shadow;
  }
  return shadow;
}
