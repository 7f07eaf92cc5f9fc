// SPDX-License-Identifier: Apache-2.0
// Weir, an embeddable rate limiter: all of weir::weir in one include. The policy engine is a separate library
// (weir::engine) with its own header, weir/engine.h.
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
