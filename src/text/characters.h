// The old home of what is in base/ascii.h, base/hex.h, text/utf8.h and text/append_written.h, until its last users have
// moved on.
#pragma once

#include "base/ascii.h"
#include "base/hex.h"
#include "text/append_written.h"
#include "text/utf8.h"

namespace weir::text {

using base::consists_of;
using base::equals_ignoring_case;
using base::hex_value;
using base::is_blank;
using base::is_control;
using base::is_digit;
using base::is_letter;
using base::is_letter_or_digit;
using base::is_lower;
using base::is_printable;
using base::is_token;
using base::is_token_character;
using base::is_upper;
using base::lower;
using base::to_lower;
using base::to_upper;
using base::trimmed;
using base::upper;

}  // namespace weir::text
