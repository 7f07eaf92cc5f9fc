// Secrets in files: tokens that clients show, passwords of our own, the keys of receipts, and the admin token and a key
// that the server makes for itself. A file that everybody on the machine can read holds no secret: it is refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/receipt_texts.h"
#include "weir/result.h"

namespace weir::server {

inline constexpr auto admin_token_file = "admin.token";
inline constexpr auto receipt_key_file = "receipts.key";

// The token, without the end of its line.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& path);

// A password for another server, without the end of its line. That server has its own rules for passwords.
[[nodiscard]] Result<std::string> read_password(const std::filesystem::path& path);

// Whether secrets can be kept there; the directory is made (0700) if it is not there. Its files are not read.
[[nodiscard]] Result<void> prepare_state_directory(const std::filesystem::path& state_directory);

// The token that a client shows to change state: 64 hexadecimal digits, made at the first start, readable by the owner
// only (0600). The directory is made too (0700) if it is not there.
[[nodiscard]] Result<std::string> open_admin_token(const std::filesystem::path& state_directory);

// The keys that seal receipts: 64 hexadecimal digits a line, `#` begins a comment.
[[nodiscard]] Result<std::vector<frontend::ReceiptKey>> read_receipt_keys(const std::filesystem::path& path);

// The one in the state directory, made at the first start like the admin token.
[[nodiscard]] Result<std::vector<frontend::ReceiptKey>> open_receipt_key(const std::filesystem::path& state_directory);

// One that lives as long as the process.
[[nodiscard]] Result<frontend::ReceiptKey> new_receipt_key();

}  // namespace weir::server
