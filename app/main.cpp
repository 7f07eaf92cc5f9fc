#include "app/command_line.h"

int main(int argc, char** argv) {
  return weir::app::run(argc, argv);
}
