// Weir, a rate limiter to embed: everything of weir::weir in one include. The policy engine is a library of its own
// (weir::engine), and has weir/engine.h.
#pragma once

#include "weir/backoff.h"
#include "weir/client_limiter.h"
#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/keyed_limiter.h"
#include "weir/limit.h"
#include "weir/limiter.h"
#include "weir/receipt.h"
#include "weir/request.h"
#include "weir/result.h"
#include "weir/time.h"
#include "weir/to_duration.h"
