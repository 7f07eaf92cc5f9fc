//! Keys of 24 bytes, made from a number just before they are used, as in table/keys.h.

pub const BLOCK_LENGTH: usize = 32;
const KEY_LENGTH: usize = 24;

/// Eight letters 'a' to 'p', one for each half byte.
fn letters_of(half: u32) -> u64 {
    let mut spread = u64::from(half);
    spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    spread + 0x6161_6161_6161_6161
}

/// Overwrites `slot`. governor looks a `String` up by a `&String`, so the slots are strings that are
/// written in place: no allocation on a hit.
pub fn write_key(number: u32, slot: &mut String) {
    let scattered = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // SAFETY: only ASCII is written.
    let bytes = unsafe { slot.as_bytes_mut() };
    bytes[..8].copy_from_slice(b"account:");
    bytes[8..16].copy_from_slice(&letters_of((scattered >> 32) as u32).to_le_bytes());
    bytes[16..24].copy_from_slice(&letters_of(scattered as u32).to_le_bytes());
}

pub fn empty_slot() -> String {
    " ".repeat(KEY_LENGTH)
}
