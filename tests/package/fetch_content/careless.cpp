// Compiles with warnings but without errors: Weir's warning flags do not apply to projects that link it.
#include <weir/weir.h>

int careless(unsigned number) {
  const int shadow = number;
  {
    const int shadow = (int)number / 2;
    if (shadow < number) return shadow;
  }
  return shadow;
}
