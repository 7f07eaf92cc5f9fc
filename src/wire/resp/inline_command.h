// Commands as people type them: one line, words apart, by the quoting rules of Redis.
//
//   SET key "a\tb\x00"    double quotes: \n \r \t \b \a, \xHH, and any other byte after \ as itself
//   SET key 'it\'s'       single quotes: \' only
//
// A closing quote ends the word: what follows must be white space. A quote may begin within a word.
// One difference: to Redis a NUL is the end of what it reads, here it is a byte like any other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::wire::resp {

// Splits `line`, which has no end of line, into `words`, replacing what was there. Words are views: of `line`
// where they are as written, otherwise of `unquoted`. False when a quote is not closed or does not end its
// word; `words` is then void.
[[nodiscard]] bool split_inline_command(std::string_view line, std::string& unquoted,
                                        std::vector<std::string_view>& words);

}  // namespace weir::wire::resp
