// The names of all lint rules. docs/reference-lint.md has a section for each.
#pragma once

#include <array>

#include "text/yaml/problem.h"

namespace weir::policy::rule {

using text::Rule;

// Keys.
inline constexpr Rule unverified_key{"unverified-key"};
inline constexpr Rule penalty_lockout{"penalty-lockout"};
inline constexpr Rule ip_alone{"ip-alone"};
inline constexpr Rule raw_path_key{"raw-path-key"};

// Coverage.
inline constexpr Rule uncovered_request{"uncovered-request"};
inline constexpr Rule unreachable_limit{"unreachable-limit"};
inline constexpr Rule single_segment{"single-segment"};
inline constexpr Rule nothing_limited{"nothing-limited"};

// Algorithms and numbers.
inline constexpr Rule fixed_window_on_writes{"fixed-window-on-writes"};
inline constexpr Rule large_burst{"large-burst"};
inline constexpr Rule small_burst{"small-burst"};
inline constexpr Rule unread_tier{"unread-tier"};

// Fields without effect.
inline constexpr Rule no_effect_in_shadow{"no-effect-in-shadow"};
inline constexpr Rule no_effect{"no-effect"};
inline constexpr Rule unused_allow{"unused-allow"};

// Several nodes.
inline constexpr Rule exact_anyway{"exact-anyway"};
inline constexpr Rule approximate_nodes{"approximate-nodes"};
inline constexpr Rule approximate_sync{"approximate-sync"};

// Costs that are known later.
inline constexpr Rule unbounded_usage{"unbounded-usage"};
inline constexpr Rule receipt_size{"receipt-size"};

// OpenAPI documents.
inline constexpr Rule relative_server_url{"relative-server-url"};
inline constexpr Rule misplaced_field{"misplaced-field"};
inline constexpr Rule unread_security_scheme{"unread-security-scheme"};

inline constexpr std::array all{
    unverified_key,
    penalty_lockout,
    ip_alone,
    raw_path_key,
    uncovered_request,
    unreachable_limit,
    single_segment,
    nothing_limited,
    fixed_window_on_writes,
    large_burst,
    small_burst,
    unread_tier,
    no_effect_in_shadow,
    no_effect,
    unused_allow,
    exact_anyway,
    approximate_nodes,
    approximate_sync,
    unbounded_usage,
    receipt_size,
    relative_server_url,
    misplaced_field,
    unread_security_scheme,
};

}  // namespace weir::policy::rule
