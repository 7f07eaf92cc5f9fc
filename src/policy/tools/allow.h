// `# weir: allow RULE because REASON` in a policy silences the warnings of one rule in one line.
//
// A comment after a value applies to its own line; a comment alone on a line applies to the next line that is not a
// comment. An unknown rule or a missing reason is an error.
#pragma once

#include <string_view>

#include "policy/vocabulary.h"

namespace weir::policy {

// Must be called before any warning about `text`, which parse_yaml() must have accepted.
void read_allowances(std::string_view text, Problems& problems);

// Must be called after all other warnings. Warns about each comment that silenced nothing.
void warn_of_unused_allowances(Problems& problems);

}  // namespace weir::policy
