----------------------------------------------------------------------------------------------------------------- read

-- The error masks the consumer in the key, which may be personal data.
local function fail(key, suffix)
  local name = string.gsub(KEYS[key] .. (suffix or ''), '({[^:]*:).*(}[^}]*)$', '%1...%2')
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

-- Reads the totals that start at `from`. Returns false if they are invalid.
local function read_leases(key, text, from)
  if #text ~= from + LEASES then return false end
  local count, out, demand, first_end, last_end, of = struct.unpack('<I2I8I8I8I8I8', text, from + 1)
  if count == 0 or out >= EXACT or demand >= EXACT or first_end >= EXACT or last_end >= EXACT or of >= EXACT then
    return false
  end
  leases = leases or {}
  leases[key] = {count, out, demand, first_end, last_end, of}
  if now >= first_end then may_expire = true end
  return true
end

-- Reads the totals of a text and returns its two numbers; nil if it is not a state.
local function with_more(key, text)
  local bar = string.find(text, '!', 1, true)
  if not bar then return nil end
  local state = string.sub(text, 1, bar - 1)
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
  if term > 0 and input[term] == HOLDS then
    -- A concurrency limit has no state but its receipts, in a hash under its key.
    if text then return fail(key) end
  elseif term > 0 then
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
      if number > floor(EXACT / length) - 2 then return fail(key) end
      if a >= WINDOWS or b > 0 then first[key], second[key], third[key] = number, floor(a / WINDOWS), b end
    else
      absent = absent + 1
      missing[absent] = KEYS[key]
    end
  end
end

-- MGET returns nil for a value of another type. Such a key is not ours to overwrite.
if absent > 0 and call('EXISTS', unpack(missing)) > 0 then
  return redis.error_reply('WRONGTYPE a key of weir holds a value of another type: remove it')
end
