----------------------------------------------------------------------------------------------------------------- read

-- The error masks the consumer in the key, which may be personal data.
local function fail(key)
  local name = string.gsub(KEYS[key], '({[^:]*:).*(}[^}]*)$', '%1...%2')
  return redis.error_reply('FOREIGN the value of ' .. name .. ' is not a state of weir: remove it')
end

-- The two numbers of a text; nil if it is not a state.
local function two_numbers(text)
  local colon = string.find(text, ':', 1, true)
  if not colon then return nil end
  local a, b = tonumber(string.sub(text, 1, colon - 1)), tonumber(string.sub(text, colon + 1))
  if a and b and b >= 0 and b < EXACT and b % 1 == 0 then return a, b end
  return nil
end

-- A slice is {holder, number, units, demand, expiration, used}; a holder is a text of 8 bytes.
local SLICE, MOST_SLICES = 40, 1024
local NUMBER, UNITS, DEMAND, ENDS, USED_UNITS = 2, 3, 4, 5, 6

-- The totals of the slices of a key.
local LEASES = 42
local COUNT, OUT, DEMANDS, FIRST, LAST, WINDOW = 1, 2, 3, 4, 5, 6

-- A receipt is {id, cost, at, nths, expiration}, a report {id, expiration}; an id is a text of 16 bytes.
local RECEIPT, REPORTED, RECEIPTS_HEAD, MOST_RECEIPTS = 48, 24, 13, 1024
local ID, COST, AT, NTHS, UNTIL = 1, 2, 3, 4, 5

-- Reads the receipts that start at `from`. Returns the position after them; nil if they are invalid.
local function read_receipts(key, text, from)
  if #text < from + RECEIPTS_HEAD - 1 then return nil end
  local open, reported, number = struct.unpack('<I2I2I8', text, from + 1)
  local ids = from + RECEIPTS_HEAD + open * RECEIPT
  local behind = ids + reported * REPORTED
  if #text < behind - 1 or open > MOST_RECEIPTS or reported > MOST_RECEIPTS or number >= EXACT then return nil end
  local of = {open = {}, reported = {}, number = number}
  for i = 1, open do
    local id, cost, at, nths, ends = struct.unpack('<c16I8I8I8I8', text, from + RECEIPTS_HEAD + (i - 1) * RECEIPT)
    if cost >= EXACT or at >= EXACT or nths >= EXACT or ends >= EXACT then return nil end
    of.open[i] = {id, cost, at, nths, ends}
  end
  for i = 1, reported do
    local id, ends = struct.unpack('<c16I8', text, ids + (i - 1) * REPORTED)
    if ends >= EXACT then return nil end
    of.reported[i] = {id, ends}
  end
  receipts = receipts or {}
  receipts[key] = of
  return behind
end

-- Reads the totals that start at `from`. Returns false if they are invalid.
local function read_leases(key, text, from)
  if #text ~= from + LEASES then return false end
  local count, out, demand, first_end, last_end, of = struct.unpack('<I2I8I8I8I8I8', text, from + 1)
  if count == 0 or out >= EXACT or demand >= EXACT or first_end >= EXACT or last_end >= EXACT or of >= EXACT then
    return false
  end
  leases = leases or {}
  leases[key] = {count, out, demand, first_end, last_end, of}
  return true
end

-- Reads the receipts and totals of a text and returns its two numbers; nil if it is not a state.
local function with_more(key, text)
  local behind = string.find(text, '[#!]')
  if not behind then return nil end
  local state = string.sub(text, 1, behind - 1)
  local bar = behind
  if string.sub(text, behind, behind) == '#' then
    bar = read_receipts(key, text, behind)
    if not bar or (bar <= #text and string.sub(text, bar, bar) ~= '!') then return nil end
  end
  if bar > #text then
    local a = tonumber(state)
    if a then return a, 0 end
    return two_numbers(state)
  end
  if not read_leases(key, text, bar) then return nil end
  local a = tonumber(state)
  if a then return a, 0 end
  return two_numbers(state)
end

if plain > 0 then states = call('MGET', unpack(KEYS, 1, plain)) end

local missing, absent = {}, 0
for key = 1, buckets do
  local text = states[key]
  if text then
    local a, b = tonumber(text), 0
    if not a then a, b = two_numbers(text) end
    if not a then a, b = with_more(key, text) end
    if not (a and a >= 0 and a < EXACT and a % 1 == 0) then return fail(key) end
    first[key], second[key] = a, b
  else
    absent = absent + 1
    missing[absent] = KEYS[key]
    first[key], second[key] = -1, 0
  end
end

for key = buckets + 1, plain do
  local text, term = states[key], input[5 + key - buckets]
  first[key], second[key], third[key] = -1, 0, 0
  if term > 0 then
    local length = input[term + 3]
    window[key] = length
    if length == 0 and (now < input[term + 4] or now >= input[term + 7]) then
      return redis.error_reply("EDGES this server's time is in none of the windows that a node sent: compare their clocks")
    end
    if text and length == 0 then
      local count, ends = two_numbers(text)
      if not count then count, ends = with_more(key, text) end
      if not (count and count >= 0 and count < EXACT and count % 1 == 0 and (ends > 0 or count == 0)) then
        return fail(key)
      end
      if count > 0 then first[key], second[key] = ends, count end
    elseif text then
      local a, b = tonumber(text), 0
      if not a then a, b = two_numbers(text) end
      if not a then a, b = with_more(key, text) end
      if not (a and a >= 0 and a < EXACT and a % 1 == 0) then return fail(key) end
      -- The number nearest to that of the present window.
      local present = floor(now / length)
      local ahead = (a - present) % WINDOWS
      if ahead >= WINDOWS / 2 then ahead = ahead - WINDOWS end
      local number = present + ahead
      if receipts and receipts[key] then
        -- Receipts may keep a window for longer than numbers modulo 2^20 are unique.
        number = receipts[key].number
        if number % WINDOWS ~= a % WINDOWS then return fail(key) end
      end
      if number > floor(EXACT / length) - 2 then return fail(key) end
      if a >= WINDOWS or b > 0 then first[key], second[key], third[key] = number, floor(a / WINDOWS), b end
    else
      absent = absent + 1
      missing[absent] = KEYS[key]
    end
  elseif term < 0 then
    local log = -term
    beside = beside or {}
    beside[log] = key
    if input[5 + log - buckets] > 0 then
      if not text then
        absent = absent + 1
        missing[absent] = KEYS[key]
      elseif string.sub(text, 1, 2) ~= '0#' or read_receipts(log, text, 2) ~= #text + 1 then
        return fail(key)
      end
    end
  end
end

-- MGET returns nil for a value of another type. Such a key is not ours to overwrite.
if absent > 0 and call('EXISTS', unpack(missing)) > 0 then
  return redis.error_reply('WRONGTYPE a key of weir holds a value of another type: remove it')
end
