// `# weir: allow RULE because REASON` in a policy: that a warning is known and meant.
//
// Behind something, it is about its own line; alone, about the next line that is more than a comment. It silences that
// rule's warnings in that line, and no others. A rule that does not exist, or no reason, is an error.
#pragma once

#include <string_view>

#include "policy/vocabulary.h"

namespace weir::policy {

// To be called before anything is said about the text, which parse_yaml() could read.
void read_allowances(std::string_view text, Problems& problems);

// To be called once all warnings have been given: those that silenced nothing are warnings themselves.
void warn_of_unused_allowances(Problems& problems);

}  // namespace weir::policy
