package main

import "encoding/binary"

// Keys of 24 bytes, made from a number just before they are used, as in table/keys.h.
const (
	blockLength = 32
	keyLength   = 24
)

type key [keyLength]byte

// lettersOf gives eight letters 'a' to 'p', one for each half byte.
func lettersOf(half uint32) uint64 {
	spread := uint64(half)
	spread = (spread | spread<<16) & 0x0000_ffff_0000_ffff
	spread = (spread | spread<<8) & 0x00ff_00ff_00ff_00ff
	spread = (spread | spread<<4) & 0x0f0f_0f0f_0f0f_0f0f
	return spread + 0x6161_6161_6161_6161
}

func writeKey(number uint32, slot *key) {
	scattered := uint64(number) * 0x9e37_79b9_7f4a_7c15
	copy(slot[:8], "account:")
	binary.LittleEndian.PutUint64(slot[8:16], lettersOf(uint32(scattered>>32)))
	binary.LittleEndian.PutUint64(slot[16:24], lettersOf(uint32(scattered)))
}
