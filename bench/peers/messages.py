"""Encodes and decodes protobuf, as far as the peers' messages need it."""


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """Encodes the fields of a message: bytes and text with their length, integers as they are."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read(message):
    """Returns the fields of a message by number, as lists of integers and bytes."""
    fields, at = {}, 0

    def take():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(message):
        tag = take()
        if tag & 7 == 0:
            value = take()
        elif tag & 7 == 2:
            size = take()
            value, at = message[at:at + size], at + size
        else:
            raise SystemExit(f"peers: a field of an unknown kind: {message!r}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def rate_limit_request(domain, *entries):
    """Encodes a request of Envoy's rate limit service, with one descriptor."""
    return field(1, domain) + field(2, b"".join(field(1, field(1, key) + field(2, value)) for key, value in entries))


def gubernator_request(name, key, limit, milliseconds):
    return field(1, field(1, name) + field(2, key) + field(3, 1) + field(4, limit) + field(5, milliseconds))


def throttlecrab_request(key, burst, count, period):
    return field(1, key) + field(2, burst) + field(3, count) + field(4, period) + field(5, 1)
