// Secrets in files: tokens of clients, passwords for other servers, receipt keys, and the admin token and receipt key
// that the server generates. A file that other users can read or write is rejected.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/access.h"
#include "frontend/receipt_texts.h"
#include "weir/result.h"

namespace weir::server {

inline constexpr auto admin_token_file = "admin.token";
inline constexpr auto receipt_key_file = "receipts.key";

// Returns the token without its line break.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& path);

// Returns a password for another server without its line break. Any characters are allowed.
[[nodiscard]] Result<std::string> read_password(const std::filesystem::path& path);

// Creates the directory (0700) if it is missing, and checks that secrets can be stored there. Reads no files.
[[nodiscard]] Result<void> prepare_state_directory(const std::filesystem::path& state_directory);

// Reads a file with one token, which may write and is named `admin`, or with lines `NAME TOKEN ROLE`, of which the role
// is `read` or `write`. `#` begins a comment. At least one token must be able to write.
[[nodiscard]] Result<std::vector<frontend::NamedToken>> read_admin_tokens(const std::filesystem::path& path);

// Returns the tokens of admin.token. The file is generated at the first start with one token of 64 hexadecimal digits
// and mode 0600. Creates the directory (0700) if it is missing.
[[nodiscard]] Result<std::vector<frontend::NamedToken>> open_admin_tokens(const std::filesystem::path& state_directory);

// Returns the token that a command sends: the only one of the file or, of several, the first that may write.
[[nodiscard]] Result<std::string> read_writing_token(const std::filesystem::path& path);

// Reads the keys that seal receipts. The file has 64 hexadecimal digits per line; `#` begins a comment.
[[nodiscard]] Result<std::vector<frontend::ReceiptKey>> read_receipt_keys(const std::filesystem::path& path);

// Returns the key in the state directory, generated at the first start like the admin token.
[[nodiscard]] Result<std::vector<frontend::ReceiptKey>> open_receipt_key(const std::filesystem::path& state_directory);

// Returns a random key.
[[nodiscard]] Result<frontend::ReceiptKey> new_receipt_key();

}  // namespace weir::server
