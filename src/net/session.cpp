#include "net/session.h"

namespace weir::net {

void Session::on_tick(Moment /*now*/, Output& /*out*/) {}
void Session::on_resume(Output& /*out*/) {}
void Session::on_end(Output& /*out*/) {}
void Session::on_drain(Output& /*out*/) {}
bool Session::idle() const {
  return true;
}

}  // namespace weir::net
