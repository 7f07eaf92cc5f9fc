-- Decides a batch of groups on states that nodes share, bit for bit like src/core.
--
-- It reads all states, decides the groups in order, and writes each changed state once. Everything that can fail comes
-- before the first write. The answer is small: the states as read, and how many copies of each group were
-- admitted. The node replays the decisions and derives all other numbers from them.
--
-- Units: times are whole microseconds since the epoch, by this server's clock. Every number is whole and below 2^53, so
-- that a double represents it exactly; where a product could exceed that, a comment says why it does not, or it is
-- computed in limbs.
--
-- KEYS      first those of buckets, then those of windows and of keys that are only forgotten, then those of the
--           receipts of logs, then those of logs; each once
-- ARGV[1]   a MessagePack array of numbers:
--             the number of bucket keys, the number of keys that are not logs, the start of the first evaluation,
--             and the operations used: 0 only the two short ones, 1 also DECIDE and LOOK, 2 any
--             for each key that is not a bucket, the start of a term for it in this array; 0 if it is only
--             forgotten; for the receipts of a log, the negated number of the log's key
--             the terms, then the evaluations
--
-- A term is a rule and a cost. Its first number is the algorithm, which defines the others:
--   bucket, queue    algorithm  cost  N  fill, its nths  reach, its nths  worth of the cost, its nths
--                    worth of a token, its nths  burst  most  max_wait
--   windows, log     algorithm  cost  limit  window
--   fixed window of a calendar: 0 for the window, followed by four edges: the start of the previous window, the start
--                    and the end of the window that the node takes for the present one, and the next end
--   holds            algorithm  cost  limit  lease
-- `reach` is how far ahead of now a state can be: a state further ahead was written under other numbers, and counts as
-- this much. `most` is how often the cost fits into the burst. A settlement has `how` in place of the cost (0 nothing,
-- 1 refund, 2 owe) and, instead of `most` or after the window:
--   bucket           when it would be full again, right after the charge
--   queue            when it was charged  worth of the charge, its nths
--   windows          units  the charged window
--   of a calendar    units  the times between which a state that counts the charged window ends
--   log              units  when it was charged
--
-- An evaluation is an operation, its number of copies, its number of checks, and for each check the number of its key
-- (negated for a guard) and the start of its term. The most common ones have a short form, for a single bucket (not a
-- queue) and a cost that is not 0:
--   DECIDE_ONE       operation  key  term
--   DECIDE_ALIKE     operation  copies  key  term
-- A message about a slice has two parts, around the evaluation that it was sent with (src/core/ledger.h):
--   REPORT           operation  key  term  holder (two of 32 bits)  number  keep  back  unasked
--   GRANT            operation  key  term  holder (two of 32 bits)  number  want  nodes  hold
-- Operations on receipts (src/core/receipts.h) add an id (four numbers of 32 bits; all 0: none) and a number after the
-- key and the term of each check:
--   RESERVE          like DECIDE, but opens receipts; the number is their lifetime. Instead of copies, 1; 0 only looks
--   SETTLE_RECEIPT   the number is the actual cost; -1 keeps the charge
--   EXTEND           the number is the new lifetime
--   USED             charges the cost of the term without a decision; the number is ignored
--
-- States
--   bucket, queue    `A` or `A:B`: the theoretical arrival time, and its nths unless they are 0
--   fixed window     `A`: count x 2^20 + the number of the window mod 2^20
--   of a calendar    `A:B`: the count, and the end of the window
--   counter          `A` or `A:B`: like a fixed window, and the count of the previous window unless it is 0
--   holds            `0`: there is nothing but the receipts
--   log              binary: the number of expired entries at the front, and the running total before the live ones
--                    (4 bytes each); then the entries, 12 bytes each: time (8), running total mod 2^32 (4)
-- A bucket or a window with receipts is followed by `#`, the number of open receipts (2 bytes), the number of ids of
-- reports (2), the number of the window (8; 0 for a bucket or a log); then 48 bytes per receipt: id (16), cost (8), the
-- arrival time right after the charge or the number of its window (for a calendar its end, for a log the time of its
-- entry) (8), its nths (8), its expiration (8); then 24 bytes per id: id (16), expiration (8). A log is never read as a
-- whole, so its receipts are stored separately, in the form of holds, under the key of the log plus `:r`. Only
-- operations on receipts name that key. Either value may expire without the other. A bucket or a window with leased
-- slices is followed by `|` and 40 bytes per slice: holder (8), number (8), units (4), demand (4), expiration (8), the
-- number of its window (8). A version that knows neither rejects such a state. Every key expires when its state can be
-- forgotten.
--
-- Returns {now, states, admitted, charges}. The states are the texts as read, or nil; a log is {used, newest, and pairs
-- of a cost and the time at which the oldest entries that add up to it expire}: its first entry, and those that a
-- denial waits for. `admitted` has a number for each evaluation: the admitted copies; for REPORT, whether the message
-- was accepted; for GRANT, the units of the slice; for RESERVE, one more than the receipts opened, or 0; for the
-- others, the number of checks that something was done for. A log that was settled is returned as it is afterwards, so
-- `charges` has a number for each check of SETTLE_RECEIPT and USED on a log: the units charged. It is omitted if there
-- is no such check.

local call, format, floor, tonumber = redis.call, string.format, math.floor, tonumber

local BUCKET, QUEUE, FIXED, COUNTER, LOG, HOLDS = 1, 2, 3, 4, 5, 6
local DECIDE_ONE, DECIDE_ALIKE = 1, 2
local DECIDE, LOOK, DECIDE_IN_STEPS, LOOK_IN_STEPS, SETTLE, FORGET = 3, 4, 5, 6, 7, 8
local REPORT, GRANT = 9, 10
local RESERVE, SETTLE_RECEIPT, EXTEND, USED = 11, 12, 13, 14
local REFUND, OWE = 1, 2

local EXACT = 9007199254740992  -- 2^53
local WINDOWS = 1048576  -- 2^20: window numbers are stored modulo this
local TOTALS = 4294967296  -- 2^32: running totals are stored modulo this

local KEYS = KEYS
local keys = #KEYS
local input = cmsgpack.unpack(ARGV[1])
local buckets, plain, needs = input[1], input[2], input[4]

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

-- The states, by key number.
--   bucket, queue   first: whole microseconds of the arrival time   second: its nths
--   windows         first: the number of the window   second: its count   third: the count of the previous window
--   of a calendar   first: the end of the window   second: its count
--   holds           second: the units held by the checks of one evaluation
--   log             first: the units used   second: the units added by this batch   logs: the rest
-- A state that was never used has -1 as its first number, except for a log.
local first, second, third, logs = {}, {}, {}, nil
local window = {}   -- the length, by key
local changed = {}  -- true: write it; false: delete it
local states = {}   -- the texts
local ledgers       -- by key: the leased slices; nil if no key has any
local ledger_terms = {}  -- of the ledgers that were read
local receipts      -- by key: {open, reported, number of the window}; nil if no key has any
local beside        -- by the key of a log: the key of its receipts; nil if none is named
local charges       -- units charged to logs without a decision; nil if there are none

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

-- A slice is {holder, number, units, demand, expiration, window}; a holder is a text of 8 bytes.
local SLICE, MOST_SLICES = 40, 1024
local HOLDER, NUMBER, UNITS, DEMAND, ENDS, WINDOW = 1, 2, 3, 4, 5, 6

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

-- Reads the receipts or slices of a text and returns its two numbers; nil if it is not a state.
local function with_more(key, text)
  local behind = string.find(text, '[#|]')
  if not behind then return nil end
  local state = string.sub(text, 1, behind - 1)
  local bar = behind
  if string.sub(text, behind, behind) == '#' then
    bar = read_receipts(key, text, behind)
    if not bar or (bar <= #text and string.sub(text, bar, bar) ~= '|') then return nil end
  end
  if bar > #text then
    local a = tonumber(state)
    if a then return a, 0 end
    return two_numbers(state)
  end
  local bytes = #text - bar
  if bytes == 0 or bytes % SLICE > 0 or bytes > SLICE * MOST_SLICES then return nil end
  local slices, count = {}, 0
  for at = bar + 1, #text, SLICE do
    local holder, number, units, demand, ends, of = struct.unpack('<c8I8I4I4I8I8', text, at)
    if number >= EXACT or ends >= EXACT or of >= EXACT then return nil end
    count = count + 1
    slices[count] = {holder, number, units, demand, ends, of}
  end
  ledgers = ledgers or {}
  ledgers[key] = slices
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
  local text, term = states[key], input[4 + key - buckets]
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
    if input[4 + log - buckets] > 0 then
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

-- A log is searched, not read: at most its head and its first entries are read at once.
local HEAD, ENTRY = 8, 12
local AT_ONCE = 64  -- entries
local entry_at, first_later, first_reaching

if plain < keys then
  logs = {}

  -- The time and the running total of an entry; 0 is the first.
  entry_at = function(log, index)
    local from = HEAD + index * ENTRY
    if from + ENTRY <= #log.bytes then
      local at, total = struct.unpack('<I8I4', log.bytes, from + 1)
      return at, total
    end
    local at, total = struct.unpack('<I8I4', call('GETRANGE', log.key, from, from + ENTRY - 1))
    return at, total
  end

  -- The first live entry later than a time; the number of entries if there is none.
  first_later = function(log, at)
    local low, high = log.dropped, log.entries
    if (entry_at(log, low)) > at then return low end
    while low < high do
      local middle = floor((low + high) / 2)
      if (entry_at(log, middle)) <= at then low = middle + 1 else high = middle end
    end
    return low
  end

  -- The time of the last of the oldest entries that add up to a cost; they expire one window later.
  first_reaching = function(log, cost)
    local low, high = log.live, log.entries
    while low < high do
      local middle = floor((low + high) / 2)
      local _, total = entry_at(log, middle)
      if (total - log.before) % TOTALS < cost then low = middle + 1 else high = middle end
    end
    if log.moved and low == log.entries - 1 then return log.moved end
    return (entry_at(log, low))
  end

  for key = plain + 1, keys do
    local term = input[4 + key - buckets]
    states[key] = false
    first[key], second[key] = 0, 0
    if term > 0 then
      window[key] = input[term + 3]
      local log = {key = KEYS[key], dropped = 0, entries = 0, live = 0, before = 0, total = 0, newest = -1, waits = {}}
      logs[key] = log
      log.bytes = call('GETRANGE', log.key, 0, HEAD + AT_ONCE * ENTRY - 1)
      local length = #log.bytes
      if length > 0 then
        if length == HEAD + AT_ONCE * ENTRY then length = call('STRLEN', log.key) end
        log.entries = (length - HEAD) / ENTRY
        if log.entries < 1 or log.entries % 1 ~= 0 then return fail(key) end
        log.dropped, log.before = struct.unpack('<I4I4', log.bytes)
        if log.dropped >= log.entries then return fail(key) end
        log.newest, log.total = entry_at(log, log.entries - 1)
        if log.newest >= EXACT then return fail(key) end
        log.live = first_later(log, now - window[key])
        if log.live > log.dropped then
          local _, total = entry_at(log, log.live - 1)
          log.before = total
        end
        first[key] = (log.total - log.before) % TOTALS
      end
    end
  end
end

--------------------------------------------------------------------------------------------------------------- decide

-- Returns how many times `worth` fits into `room`, at most `most`; both are in whole microseconds and nths of N.
-- n <= most keeps n x cost <= burst, and so n x nths < burst x N <= 2^53. The quotient is an estimate, slightly too
-- high; the comparison is exact.
local function fitting(room, room_nths, worth, worth_nths, N, most)
  local n = floor((room + room_nths / N) / (worth + worth_nths / N)) + 4
  if n > most then n = most end
  while n > 0 do
    local nths = n * worth_nths
    local whole = n * worth + floor(nths / N)
    if whole < room or (whole == room and nths % N <= room_nths) then return n end
    n = n - 1
  end
  return 0
end

-- How far an arrival time is ahead of another time. Nths that do not fit this term's N round up.
local function span_ahead(whole, nths, at, term)
  local used = whole - at
  if nths >= input[term + 2] then used, nths = used + 1, 0 end
  if used < 0 then return 0, 0 end
  local reach, reach_nths = input[term + 5], input[term + 6]
  if used > reach or (used == reach and nths > reach_nths) then return reach, reach_nths end
  return used, nths
end

-- The usage of a bucket: how far its arrival time is ahead of a time.
local function ahead_of(at, key, term)
  return span_ahead(first[key], second[key], at, term)
end

-- After a denial of a cost that is not 0: moves a bucket state that is beyond reach to the reach. Otherwise it would
-- deny for as long as the numbers imply under which it was written.
local function bring_within_reach(key, term)
  if input[term] > QUEUE or input[term + 1] == 0 then return end
  local used, nths = ahead_of(now, key, term)
  if used < input[term + 5] or nths < input[term + 6] then return end
  if first[key] == now + used and second[key] == nths then return end
  first[key], second[key] = now + used, nths
  changed[key] = true
end

-- The slices of a key in the order of expiration.
local function by_end(slices)
  local order = {}
  for i = 1, #slices do order[i] = i end
  table.sort(order, function(a, b)
    local one, other = slices[a][ENDS], slices[b][ENDS]
    return one < other or (one == other and a < b)
  end)
  for i = 1, #order do order[i] = slices[order[i]] end
  return order
end

-- Creating a function takes time, and most batches need few: so these are created on demand.
local share, rolled, in_calendar, fits, charge, note_waits, decide
local owe_bucket, charge_units, window_at, forget_if_over, expire, with_held
local owe_units, refund_log, refund, decide_in_steps, settle, forget, report, grant
local id_at, hold_fits, end_oldest, reserve, settle_receipt, extend, used

if needs > 0 or ledgers then
  -- ceil(count x part / whole), for count < 2^34 and part <= whole < 2^49.
  share = function(count, part, whole)
    local quotient = floor(count * part / whole)
    -- The quotient is off by at most one, which the remainder shows; in limbs of 17 bits no step of it exceeds 2^53,
    -- since the result is small.
    local part_low, whole_low = part % 131072, whole % 131072
    local part_rest, whole_rest = (part - part_low) / 131072, (whole - whole_low) / 131072
    local part_middle, whole_middle = part_rest % 131072, whole_rest % 131072
    local part_high, whole_high = (part_rest - part_middle) / 131072, (whole_rest - whole_middle) / 131072
    local left = count * part_high - quotient * whole_high
    left = left * 131072 + (count * part_middle - quotient * whole_middle)
    left = left * 131072 + (count * part_low - quotient * whole_low)
    if left > whole then return quotient + 2 end
    if left > 0 then return quotient + 1 end
    if left <= -whole then return quotient - 1 end
    return quotient
  end

  -- The usage of a counter, and the counter in the present window: its number, its count, and the previous count.
  rolled = function(key, length)
    local number, count, previous = first[key], second[key], third[key]
    local present = floor(now / length)
    if number < present then
      if number == present - 1 then previous = count else previous = 0 end
      number, count = present, 0
    end
    if previous == 0 then return count, number, count, 0 end
    local into = now - number * length
    if into < 0 then into = 0 end
    return share(previous, length - into, length) + count, number, count, previous
  end

  -- A calendar window's end and count, now. A state that has not expired counts for this window if its end is nearer to
  -- the window's end than to its start, even if it was written with other edges.
  in_calendar = function(key, term)
    local at = term + 4
    if now >= input[at + 2] then at = at + 2 elseif now >= input[at + 1] then at = at + 1 end
    local starts, ends, state_ends = input[at], input[at + 1], first[key]
    if state_ends >= ends then return state_ends, second[key] end
    if state_ends > now and state_ends - starts > ends - state_ends then return ends, second[key] end
    return ends, 0
  end

  local function fits_as_it_is(key, term, copies)
    local of, cost = input[term], input[term + 1]
    local used, n
    if of <= QUEUE then
      local N = input[term + 2]
      local nths
      used, nths = ahead_of(now, key, term)
      local room, room_nths = input[term + 3] - used, input[term + 4] - nths
      if room_nths < 0 then room, room_nths = room - 1, room_nths + N end
      if room < 0 then return 0 end
      if cost == 0 then return copies end
      local worth, worth_nths = input[term + 7], input[term + 8]
      if worth > room or (worth == room and worth_nths > room_nths) then return 0 end
      n = 1
      if copies > 1 then
        n = input[term + 12]
        if n > copies then n = copies end
        n = fitting(room, room_nths, worth, worth_nths, N, n)
      end
      if of == QUEUE then
        -- The n-th copy waits for what the previous ones use.
        local wait, wait_nths = input[term + 13] - used, -nths
        if wait_nths < 0 then wait, wait_nths = wait - 1, wait_nths + N end
        if wait < 0 then return 0 end
        if n > 1 then n = fitting(wait, wait_nths, worth, worth_nths, N, n - 1) + 1 end
      end
      return n
    end
    if of == HOLDS then return cost == 0 and copies or 0 end  -- a hold needs a receipt
    if of == FIXED and input[term + 3] == 0 then
      local _
      _, used = in_calendar(key, term)
    elseif of == FIXED then
      used = 0
      if first[key] >= floor(now / input[term + 3]) then used = second[key] end
    elseif of == COUNTER then
      used = rolled(key, input[term + 3])
    else
      used = first[key] + second[key]
    end
    local room = input[term + 2] - used
    if room < cost or room < 0 then return 0 end
    if cost == 0 then return copies end
    n = floor(room / cost)
    if n > copies then return copies end
    return n
  end

  -- Returns how many of `copies` identical checks are admitted one after the other. Leased units count as used.
  fits = function(key, term, copies)
    if ledgers and ledgers[key] then return with_held(key, term, fits_as_it_is, copies) end
    return fits_as_it_is(key, term, copies)
  end

  -- Charges a check n times. It must fit.
  charge = function(key, term, n)
    local of, cost = input[term], input[term + 1]
    if cost == 0 then return end
    if ledgers and ledgers[key] and of > QUEUE then
      charge_units(key, term, n * cost, window_at(key, term), now)
    elseif of <= QUEUE then
      local N = input[term + 2]
      local used, nths = ahead_of(now, key, term)
      local worth, worth_nths = input[term + 7], input[term + 8]
      if n > 1 then
        worth_nths = n * worth_nths
        worth = n * worth + floor(worth_nths / N)
        worth_nths = worth_nths % N
      end
      used = used + worth
      -- The sum nths + worth_nths could exceed 2^53, so it is not computed.
      if nths >= N - worth_nths then
        used, nths = used + 1, nths - (N - worth_nths)
      else
        nths = nths + worth_nths
      end
      first[key], second[key] = now + used, nths
    elseif of == FIXED and input[term + 3] == 0 then
      local ends, count = in_calendar(key, term)
      first[key], second[key] = ends, count + n * cost
    elseif of == FIXED then
      local present = floor(now / input[term + 3])
      if first[key] < present then first[key], second[key] = present, 0 end
      second[key] = second[key] + n * cost
    elseif of == COUNTER then
      local _, number, count, previous = rolled(key, input[term + 3])
      first[key], second[key], third[key] = number, count + n * cost, previous
    else
      second[key] = second[key] + n * cost  -- for a log or held units
    end
    changed[key] = true
  end

  -- Notes what a node needs of a log to compute waits: for a denied check, and for a debt.
  note_waits = function(key, term, denied)
    local cost, limit = input[term + 1], input[term + 2]
    local used = first[key] + second[key]
    local waits = logs[key].waits
    if denied and cost <= limit and used + cost > limit then waits[used + cost - limit] = true end
    if used > limit then waits[used - limit], waits[used - limit + 1] = true, true end
  end

  -- DECIDE and LOOK: the number of admitted copies. All checks admit, or none is charged.
  decide = function(operation, copies, from, to)
    if ledgers then
      for at = from, to, 2 do expire(input[at] > 0 and input[at] or -input[at], input[at + 1]) end
    end
    local n = copies
    local most = operation == DECIDE and copies or 1
    for at = from, to, 2 do
      local key, fit = input[at], nil
      if key > 0 then
        fit = fits(key, input[at + 1], most)
      else
        fit = fits(-key, input[at + 1], 1) == 1 and most or 0
      end
      if fit < n then n = fit end
      if n == 0 then break end
    end
    if operation == LOOK and n > 0 then n = copies end
    for at = from, to, 2 do
      local key, term = input[at], input[at + 1]
      if key > 0 and n > 0 and operation == DECIDE then charge(key, term, n) end
      if key < 0 then key = -key end
      if n < copies and operation == DECIDE then bring_within_reach(key, term) end
      if logs and logs[key] then note_waits(key, term, n < copies) end
    end
    return n
  end
end

if needs > 1 then
  -- Settling upward is never denied. It goes into a debt of at most one capacity, so at most two capacities are used.
  -- For a log, returns the units charged.
  owe_units = function(key, term, more)
    local of = input[term]
    if of == HOLDS then return end
    if of <= QUEUE then
      local N, burst = input[term + 2], input[term + 11]
      local worth, worth_nths, rest = 0, 0, more
      if more > burst then
        worth, worth_nths = input[term + 3], input[term + 4]
        rest = more < 2 * burst and more - burst or burst
      end
      local nths = rest * input[term + 10]  -- at most burst x N, and so below 2^53
      worth, nths = worth + rest * input[term + 9] + floor(nths / N), nths % N
      if nths >= N - worth_nths then
        worth, nths = worth + 1, nths - (N - worth_nths)
      else
        nths = nths + worth_nths
      end
      owe_bucket(key, term, worth, nths, now)
      changed[key] = true
      return
    end
    local is_calendar = of == FIXED and input[term + 3] == 0
    local most = 2 * input[term + 2]
    if of == FIXED then
      if is_calendar then
        first[key], second[key] = in_calendar(key, term)
      else
        local present = floor(now / input[term + 3])
        if first[key] < present then first[key], second[key] = present, 0 end
      end
      local count = second[key]
      if count > most then most = count end
      if more < most - count then second[key] = count + more else second[key] = most end
    elseif of == COUNTER then
      local used, number, count, previous = rolled(key, input[term + 3])
      if used > most then used = most end
      if more > most - used then more = most - used end
      first[key], second[key], third[key] = number, count + more, previous
    else
      local used = first[key] + second[key]
      if used > most then used = most end
      if more > most - used then more = most - used end
      if more == 0 then return 0 end
      -- With as many entries as the limit allows, the newest takes the charge and moves to its time.
      local log = logs[key]
      if log.live < log.entries and log.entries - log.live >= input[term + 2] then
        log.moved = log.newest > now and log.newest or now
      end
      second[key] = second[key] + more
      log.settled = true
    end
    changed[key] = true
    return more
  end

  -- Moves the receipts after an arrival time earlier by what was given back.
  local function lower(key, term, at, nths, back, back_nths)
    if not receipts or not receipts[key] or (back == 0 and back_nths == 0) then return end
    local N = input[term + 2]
    for _, receipt in ipairs(receipts[key].open) do
      if receipt[AT] > at or (receipt[AT] == at and receipt[NTHS] > nths) then
        local whole, rest = receipt[AT], receipt[NTHS]
        if rest >= N then whole, rest = whole + 1, 0 end
        whole, rest = whole - back, rest - back_nths
        if rest < 0 then whole, rest = whole - 1, rest + N end
        if whole < 0 then whole, rest = 0, 0 end
        receipt[AT], receipt[NTHS] = whole, rest
      end
    end
  end

  -- Credits a bucket with at most `most`, and at most the visible part of the charge. Returns the credit.
  local function credit(key, term, most, max_nths, visible, visible_nths)
    local N = input[term + 2]
    local used, nths = ahead_of(now, key, term)
    local back, back_nths = most, max_nths
    if visible < back or (visible == back and visible_nths < back_nths) then back, back_nths = visible, visible_nths end
    if used < back or (used == back and nths < back_nths) then back, back_nths = used, nths end
    local less, less_nths = used - back, nths - back_nths
    if less_nths < 0 then less, less_nths = less - 1, less_nths + N end
    first[key], second[key] = now + less, less_nths
    return back, back_nths
  end

  -- The whole log without its expired entries. What this batch added is its last entry.
  local function whole_log(key, log)
    local bytes = log.bytes
    if #bytes < HEAD + log.entries * ENTRY then bytes = call('GET', log.key) end
    if second[key] == 0 then return bytes end
    local at = log.newest > now and log.newest or now
    local stays = log.entries
    if log.live < log.entries and (log.newest == at or log.moved) then stays = stays - 1 end
    local total = (log.total + second[key]) % TOTALS
    bytes = struct.pack('<I4I4', 0, log.before) .. string.sub(bytes, HEAD + log.live * ENTRY + 1, HEAD + stays * ENTRY)
      .. struct.pack('<I8I4', at, total)
    log.bytes, log.rewritten = bytes, bytes
    log.entries, log.dropped, log.live = stays - log.live + 1, 0, 0
    log.newest, log.total, log.moved = at, total, nil
    first[key], second[key] = first[key] + second[key], 0
    return bytes
  end

  -- Deducts a cost from the charged entry of a log, if it still counts, and writes the log. The totals on the shorter
  -- side of the entry are recomputed.
  refund_log = function(key, units, charged)
    local log = logs[key]
    if second[key] > 0 then whole_log(key, log) end
    if log.entries == 0 or charged <= now - window[key] then return end
    local index = first_later(log, charged - 1)
    if index == log.entries then return end
    local at, total = entry_at(log, index)
    if at ~= charged then return end
    local bytes = whole_log(key, log)
    local dropped, before = struct.unpack('<I4I4', bytes)
    local previous = before
    if index > dropped then
      local _
      _, previous = struct.unpack('<I8I4', bytes, HEAD + (index - 1) * ENTRY + 1)
    end
    local cost = (total - previous) % TOTALS
    if units > cost then units = cost end
    -- The totals decrease from the entry on; or, which is the same for their differences, they increase before it.
    local from, to, shift = index, log.entries - 1, -units
    if index - dropped < log.entries - index then
      from, to, shift = dropped, index - 1, units
      before = (before + units) % TOTALS
    end
    local recounted, count = {}, 0
    for i = from, to do
      local t, sum = struct.unpack('<I8I4', bytes, HEAD + i * ENTRY + 1)
      if i ~= index or units < cost then
        count = count + 1
        recounted[count] = struct.pack('<I8I4', t, (sum + shift) % TOTALS)
      end
    end
    local left, right
    if shift < 0 then
      left = string.sub(bytes, HEAD + dropped * ENTRY + 1, HEAD + index * ENTRY) .. table.concat(recounted)
      right = ''
    else
      left = table.concat(recounted)
      right = string.sub(bytes, HEAD + (units < cost and index or index + 1) * ENTRY + 1)
    end
    log.rewritten = struct.pack('<I4I4', 0, before) .. left .. right
    log.entries = log.entries - dropped - (units == cost and 1 or 0)
    log.live = log.live - dropped
    log.dropped = 0
    log.bytes = log.rewritten
    if log.entries > 0 then
      log.newest, log.total = entry_at(log, log.entries - 1)
      log.before = before
      if log.live > 0 then
        local _, sum = entry_at(log, log.live - 1)
        log.before = sum
      end
    else
      log.newest, log.total, log.before = -1, 0, 0
    end
    first[key] = (log.total - log.before) % TOTALS
    changed[key] = true
  end

  -- Gives back what was charged and not used, where it still counts.
  refund = function(key, term)
    local of = input[term]
    if of <= QUEUE then
      local N = input[term + 2]
      local used, used_nths = ahead_of(now, key, term)
      local visible, visible_nths = used, used_nths
      if of == QUEUE then
        -- Only the newest turn can be given back: it starts when it was charged.
        local begin, nths = first[key] - input[term + 13], second[key] - input[term + 14]
        if nths < 0 then begin, nths = begin - 1, nths + N end
        if nths > 0 then begin = begin + 1 end
        if begin ~= input[term + 12] then return end
      else
        visible, visible_nths = input[term + 12] - now, 0
        if visible < 0 then visible = 0 end
      end
      local whole, nths = first[key], second[key]
      local back, back_nths = credit(key, term, input[term + 7], input[term + 8], visible, visible_nths)
      if of == BUCKET then lower(key, term, input[term + 12] - 1, 0, back, back_nths) end
      if whole ~= first[key] or nths ~= second[key] then changed[key] = true end
    elseif of == LOG then
      refund_log(key, input[term + 4], input[term + 5])
    elseif input[term + 3] == 0 then
      local units = input[term + 8]
      if second[key] == 0 or first[key] <= input[term + 9] or first[key] > input[term + 10] then return end
      second[key] = units < second[key] and second[key] - units or 0
      if second[key] == 0 then first[key] = -1 end
      changed[key] = true
    else
      local units, charged = input[term + 4], input[term + 5]
      if charged == first[key] and second[key] > 0 then
        second[key] = units < second[key] and second[key] - units or 0
      elseif of == COUNTER and charged == first[key] - 1 and third[key] > 0 then
        third[key] = units < third[key] and third[key] - units or 0
      else
        return
      end
      if second[key] == 0 and third[key] == 0 then first[key] = -1 end
      changed[key] = true
    end
  end

  -- Checks one after the other, for a key that occurs twice in a group: the second check sees the first charge. A
  -- denial undoes everything. Checks are `step` numbers apart. `open`: checks whose receipt is open, so that nothing is
  -- charged; `marks`: the position of each charge.
  decide_in_steps = function(from, to, keep, step, open, marks)
    if ledgers then
      for at = from, to, step do expire(input[at] > 0 and input[at] or -input[at], input[at + 1]) end
    end
    local saved, all = {}, 1
    for at = from, to, step do
      local key, term = input[at], input[at + 1]
      local charged = key > 0
      if not charged then key = -key end
      local is_open = open and open[at]
      local n = 1
      if open and charged and input[term] == HOLDS then
        n = hold_fits(at, is_open)
      elseif not is_open then
        n = fits(key, term, 1)
      end
      if logs and logs[key] then note_waits(key, term, n == 0) end
      if n == 0 then
        all = 0
      elseif charged and not is_open then
        saved[#saved + 1] = {key, first[key], second[key], third[key], changed[key]}
        charge(key, term, 1)
        if marks then marks[at] = {first[key], second[key]} end
      end
    end
    if all == 0 or not keep then
      for i = #saved, 1, -1 do
        local was = saved[i]
        local key = was[1]
        first[key], second[key], third[key], changed[key] = was[2], was[3], was[4], was[5]
      end
      for at = from, to, step do
        local key, term = input[at] > 0 and input[at] or -input[at], input[at + 1]
        if keep then bring_within_reach(key, term) end
        if logs and logs[key] then note_waits(key, term, false) end
      end
    end
    return all
  end

  -- Marks the receipts of a key to be written.
  local function touch_receipts(key)
    changed[beside and beside[key] or key] = true
  end

  -- The receipts of a key, without expired ones.
  local function receipts_of(key)
    local of = receipts and receipts[key]
    if not of then return {open = {}, reported = {}} end
    local open, reported = {}, {}
    for _, one in ipairs(of.open) do
      if one[UNTIL] > now then open[#open + 1] = one end
    end
    for _, one in ipairs(of.reported) do
      if one[2] > now then reported[#reported + 1] = one end
    end
    if #open < #of.open or #reported < #of.reported then touch_receipts(key) end
    of.open, of.reported = open, reported
    return of
  end

  settle = function(key, term)
    if ledgers then expire(key, term) end
    local how = input[term + 1]
    if input[term] == HOLDS then
      if how == REFUND then end_oldest(key, input[term + 4]) end
      return
    end
    local a, b, c = first[key], second[key], third[key]
    if how == REFUND then
      refund(key, term)
    elseif how == OWE then
      if input[term] <= QUEUE then
        owe_bucket(key, term, input[term + 7], input[term + 8], now)
        changed[key] = true
      else
        owe_units(key, term, input[window[key] == 0 and term + 8 or term + 4])
      end
    end
    if input[term] ~= LOG and (a ~= first[key] or b ~= second[key] or c ~= third[key]) then
      forget_if_over(key, term)
      if first[key] < 0 then receipts_of(key) end
    end
    if logs and logs[key] then
      logs[key].settled = true
      note_waits(key, term, false)
    end
  end

  forget = function(from, to)
    for at = from, to, 2 do
      local key = input[at]
      first[key], second[key], third[key] = -1, 0, 0
      changed[key] = false
      if ledgers then ledgers[key] = nil end
      if receipts then receipts[key] = nil end
      if beside and beside[key] then changed[beside[key]] = false end
    end
  end

  local NO_ID = string.rep('\0', 16)

  id_at = function(at)
    return struct.pack('<I4I4I4I4', input[at + 2], input[at + 3], input[at + 4], input[at + 5])
  end

  local function keep_receipts(key, of)
    receipts = receipts or {}
    receipts[key] = of
    touch_receipts(key)
  end

  local function find_open(of, id)
    for i, one in ipairs(of.open) do
      if one[ID] == id and one[UNTIL] > now then return one, i end
    end
  end

  -- The number of the window in which a charge made now counts.
  local function charged_window(key, term)
    if ledgers and ledgers[key] then return window_at(key, term) end
    local number = floor(now / input[term + 3])
    return first[key] > number and first[key] or number
  end

  -- Returns 1 if the units of a check fit in addition to those held and those of earlier checks in its evaluation.
  hold_fits = function(at, is_open)
    local key, term = input[at], input[at + 1]
    if is_open then return 1 end
    if id_at(at) == NO_ID then return input[term + 1] == 0 and 1 or 0 end
    local held, count = second[key], 0
    for _, one in ipairs(receipts and receipts[key] and receipts[key].open or {}) do
      if one[UNTIL] > now then held, count = held + one[COST], count + 1 end
    end
    if held + input[term + 1] > input[term + 2] then return 0 end
    if input[term + 1] > 0 and count >= MOST_RECEIPTS then return 0 end
    return 1
  end

  -- Releases held units, oldest first.
  end_oldest = function(key, units)
    local of = receipts_of(key)
    while units > 0 and of.open[1] do
      local oldest = of.open[1]
      local taken = units < oldest[COST] and units or oldest[COST]
      units = units - taken
      oldest[COST] = oldest[COST] - taken
      changed[key] = true
      if oldest[COST] > 0 then return end
      table.remove(of.open, 1)
    end
  end

  reserve = function(from, to, keep)
    local open, marks = {}, {}
    for at = from, to, 7 do
      local of = receipts and input[at] > 0 and receipts[input[at]]
      if of and find_open(of, id_at(at)) then open[at] = true end
    end
    if decide_in_steps(from, to, keep, 7, open, marks) == 0 then return 0 end
    local opened = 1
    for at = from, to, 7 do
      local key, term, id = input[at], input[at + 1], id_at(at)
      if keep and key > 0 and id ~= NO_ID then
        local of = receipts_of(key)
        local receipt = find_open(of, id)
        if not receipt and #of.open < MOST_RECEIPTS then
          receipt = {id, 0, 0, 0, now + input[at + 6]}
          of.open[#of.open + 1] = receipt
          opened = opened + 1
        end
        if receipt and not open[at] then
          receipt[COST] = receipt[COST] + input[term + 1]
          if input[term] == HOLDS then
            second[key] = 0
          elseif input[term] == LOG then
            receipt[AT] = logs[key].newest > now and logs[key].newest or now
          elseif input[term] <= QUEUE or window[key] == 0 then
            local mark = marks[at]
            receipt[AT], receipt[NTHS] = mark[1] > 0 and mark[1] or 0, input[term] <= QUEUE and mark[2] or 0
          else
            receipt[AT], receipt[NTHS] = charged_window(key, term), 0
          end
        end
        keep_receipts(key, of)
      end
    end
    return opened
  end

  -- Gives back what is still visible of a reserved charge, at most `units`.
  local function give_back(key, term, receipt, units)
    local of = input[term]
    if of == HOLDS then return end
    if of == LOG then return refund_log(key, units, receipt[AT]) end
    if of > QUEUE then
      local counts = receipt[AT] == first[key] and second or (of == COUNTER and receipt[AT] == first[key] - 1 and third)
      if counts then counts[key] = units < counts[key] and counts[key] - units or 0 end
      return
    end
    if of == QUEUE and (first[key] ~= receipt[AT] or second[key] ~= receipt[NTHS]) then return end
    if units > input[term + 11] then units = input[term + 11] end
    local N, nths = input[term + 2], units * input[term + 10]  -- at most burst x N, and so below 2^53
    local visible, visible_nths = span_ahead(receipt[AT], receipt[NTHS], now, term)
    local back, back_nths =
      credit(key, term, units * input[term + 9] + floor(nths / N), nths % N, visible, visible_nths)
    lower(key, term, receipt[AT], receipt[NTHS], back, back_nths)
  end

  -- Each of these functions operates on one check. It returns 1 if something was done and, for a log, the units
  -- charged.

  settle_receipt = function(key, term, id, actual)
    if ledgers then expire(key, term) end
    local of = receipts_of(key)
    local receipt, place = find_open(of, id)
    if not receipt then return 0 end
    table.remove(of.open, place)
    keep_receipts(key, of)
    if actual < 0 then actual = receipt[COST] end
    if actual < receipt[COST] then give_back(key, term, receipt, receipt[COST] - actual) end
    if actual > receipt[COST] then return 1, owe_units(key, term, actual - receipt[COST]) end
    return 1
  end

  extend = function(key, term, id, lasts)
    if ledgers then expire(key, term) end
    local of = receipts_of(key)
    local receipt = find_open(of, id)
    if not receipt then return 0 end
    if now + lasts > receipt[UNTIL] then
      receipt[UNTIL] = now + lasts
      touch_receipts(key)
    end
    return 1
  end

  used = function(key, term, id)
    if ledgers then expire(key, term) end
    if id ~= NO_ID then
      local of = receipts_of(key)
      for _, one in ipairs(of.reported) do
        if one[1] == id then return 0 end
      end
      if #of.reported < MOST_RECEIPTS then  -- else it is charged, and so would be a repetition
        of.reported[#of.reported + 1] = {id, now + 3600000000}
        keep_receipts(key, of)
      end
    end
    if input[term + 1] > 0 then return 1, owe_units(key, term, input[term + 1]) end
    return 1
  end

  local taken, grants = {}, 0  -- whether each message was accepted, in order; how many have reached their grant

  report = function(key, term, holder, number, keep, back, unasked)
    ledgers = ledgers or {}
    ledgers[key] = ledgers[key] or {}
    expire(key, term)
    local slice
    for _, one in ipairs(ledgers[key]) do
      if one[HOLDER] == holder then slice = one end
    end
    local is_new = not slice or number > slice[NUMBER]
    taken[#taken + 1] = is_new
    if not is_new then return 0 end
    if slice then
      local units = slice[UNITS]
      forget_if_over(key, term)
      if slice[WINDOW] ~= window_at(key, term) then keep = 0 end
      if keep > units then keep = units end
      if back > units - keep then back = units - keep end
      slice[UNITS], slice[NUMBER] = keep, number
      charge_units(key, term, units - keep - back, slice[WINDOW], now)
    end
    charge_units(key, term, unasked, window_at(key, term), now)
    if slice or unasked > 0 then changed[key] = true end
    return 1
  end

  -- The units that are neither used nor leased.
  local function units_left(key, term)
    if input[term] <= QUEUE then
      local used, nths = ahead_of(now, key, term)
      local room, room_nths = input[term + 3] - used, input[term + 4] - nths
      if room_nths < 0 then room, room_nths = room - 1, room_nths + input[term + 2] end
      if room < 0 then return 0 end
      return fitting(room, room_nths, input[term + 9], input[term + 10], input[term + 2], input[term + 11])
    end
    local used = 0
    if input[term] == COUNTER then
      used = rolled(key, input[term + 3])
    elseif first[key] >= floor(now / input[term + 3]) then
      used = second[key]
    end
    return used < input[term + 2] and input[term + 2] - used or 0
  end

  grant = function(key, term, holder, number, want, nodes, hold)
    grants = grants + 1
    if not taken[grants] then return 0 end
    local slices, of_window = ledgers[key], window_at(key, term)
    local slice, place, held, demands = nil, nil, 0, 0
    for i, one in ipairs(slices) do
      if one[WINDOW] == of_window then held = held + one[UNITS] end
      if one[HOLDER] == holder then slice, place = one, i else demands = demands + one[DEMAND] end
    end
    local keep = slice and slice[UNITS] or 0
    local free = with_held(key, term, units_left)
    local capacity = input[term] <= QUEUE and input[term + 11] or input[term + 2]
    local units, demand = keep, 0
    if want > TOTALS - 1 then want = TOTALS - 1 end
    if nodes == 0 then
      local more = floor(capacity / 2) - held
      if floor(free / 2) < more then more = floor(free / 2) end
      if want < more then more = want end
      if more >= 4 then units = keep + more end
      if units > TOTALS - 1 then units = TOTALS - 1 end
    else
      local unused = free + held
      if slice then demand = slice[DEMAND] - floor(slice[DEMAND] / 10) end
      demand = demand + want
      if demand > TOTALS - 1 then demand = TOTALS - 1 end
      demands = demands + demand
      local counted = unused < TOTALS - 1 and unused or TOTALS - 1
      local least = floor((counted + 4 * nodes - 1) / (4 * nodes))
      local part = least
      if demands > 0 then
        local by_demand = share(counted, demand, demands)
        if by_demand > part then part = by_demand end
      end
      if part > least + 4 * want then part = least + 4 * want end
      local most = unused - (held - keep)
      if part > most then part = most end
      if part > keep then units = part end
    end
    if not slice and #slices >= MOST_SLICES then return 0 end
    if units == 0 and nodes == 0 then
      if place then table.remove(slices, place) end
      return 0
    end
    local ends = now + hold
    if input[term] > QUEUE then
      local window_ends = (of_window + 1) * input[term + 3]
      if window_ends < ends then ends = window_ends end
    end
    slices[place or #slices + 1] = {holder, number, units, demand, ends, of_window}
    changed[key] = true
    return units
  end
end

if ledgers or needs > 1 then
  owe_bucket = function(key, term, more, more_nths, at)
    local N = input[term + 2]
    local used, nths = ahead_of(at, key, term)
    local fill, fill_nths = input[term + 3], input[term + 4]
    local most, max_nths = 2 * fill, fill_nths
    if fill_nths >= N - fill_nths then
      most, max_nths = most + 1, fill_nths - (N - fill_nths)
    else
      max_nths = 2 * fill_nths
    end
    if most < used or (most == used and max_nths < nths) then most, max_nths = used, nths end
    used = used + more
    if nths >= N - more_nths then
      used, nths = used + 1, nths - (N - more_nths)
    else
      nths = nths + more_nths
    end
    if used > most or (used == most and nths > max_nths) then used, nths = most, max_nths end
    first[key], second[key] = at + used, nths
  end

  -- Charges used units at a time or, for a window, in the window in which they were granted.
  charge_units = function(key, term, units, number, at)
    local of = input[term]
    local capacity = of <= QUEUE and input[term + 11] or input[term + 2]
    if units > capacity then units = capacity end
    if units == 0 then return end
    if of <= QUEUE then
      local N, nths = input[term + 2], units * input[term + 10]  -- at most burst x N, and so below 2^53
      return owe_bucket(key, term, units * input[term + 9] + floor(nths / N), nths % N, at)
    end
    if number > first[key] then
      third[key] = of == COUNTER and number - 1 == first[key] and second[key] or 0
      first[key], second[key] = number, 0
    end
    local counts = number == first[key] and second or (of == COUNTER and number == first[key] - 1 and third)
    if not counts then return end
    local most = 2 * capacity
    if counts[key] > most then most = counts[key] end
    counts[key] = counts[key] + units
    if counts[key] > most then counts[key] = most end
  end

  -- The number of the window that counts now; 0 for a bucket.
  window_at = function(key, term)
    if input[term] <= QUEUE then return 0 end
    local number = floor(now / input[term + 3])
    if first[key] > number then number = first[key] end
    for _, slice in ipairs(ledgers[key]) do
      if slice[WINDOW] > number then number = slice[WINDOW] end
    end
    return number
  end

  -- Resets an expired state that only the slices have kept alive.
  forget_if_over = function(key, term)
    if input[term] <= QUEUE then
      if first[key] + (second[key] > 0 and 1 or 0) <= now then first[key], second[key] = -1, 0 end
      return
    end
    if input[term + 3] == 0 then
      if second[key] == 0 or first[key] <= now then first[key], second[key] = -1, 0 end
      return
    end
    local windows = input[term] == COUNTER and 1 or 0
    if second[key] > 0 then windows = windows + 1 elseif third[key] == 0 then windows = 0 end
    if windows == 0 or (first[key] + windows) * input[term + 3] <= now then
      first[key], second[key], third[key] = -1, 0, 0
    end
  end

  -- Charges expired slices, each at its expiration.
  expire = function(key, term)
    local slices, some = ledgers[key], false
    ledger_terms[key] = term
    if not slices or #slices == 0 then return end
    for _, slice in ipairs(slices) do
      if slice[ENDS] <= now then some = true end
    end
    if some then
      local stay = {}
      for _, slice in ipairs(by_end(slices)) do
        if slice[ENDS] <= now then charge_units(key, term, slice[UNITS], slice[WINDOW], slice[ENDS]) end
      end
      for _, slice in ipairs(slices) do
        if slice[ENDS] > now then stay[#stay + 1] = slice end
      end
      ledgers[key] = stay
      changed[key] = true
      forget_if_over(key, term)
    end
  end

  -- The result of `work` on a state as if all leased units were used now.
  with_held = function(key, term, work, copies)
    local a, b, c = first[key], second[key], third[key]
    if input[term] <= QUEUE then
      local held, burst, N = 0, input[term + 11], input[term + 2]
      for _, slice in ipairs(ledgers[key]) do held = held + slice[UNITS] end
      if held > burst then held = burst end
      if held > 0 then
        local used, nths = ahead_of(now, key, term)
        local more_nths = held * input[term + 10]
        used = used + held * input[term + 9] + floor(more_nths / N)
        more_nths = more_nths % N
        if nths >= N - more_nths then
          used, nths = used + 1, nths - (N - more_nths)
        else
          nths = nths + more_nths
        end
        first[key], second[key] = now + used, nths
      end
    else
      for _, slice in ipairs(ledgers[key]) do charge_units(key, term, slice[UNITS], slice[WINDOW], now) end
    end
    local result = work(key, term, copies)
    first[key], second[key], third[key] = a, b, c
    return result
  end
end

local admitted, evaluation = {}, 0
local at, last = input[3], #input
while at < last do
  local operation = input[at]
  evaluation = evaluation + 1
  if ledgers and operation <= DECIDE_ALIKE and ledgers[input[at + operation]] then
    -- In both short forms, input[at + operation] is the key.
    local copies = operation == DECIDE_ALIKE and input[at + 1] or 1
    admitted[evaluation] = decide(DECIDE, copies, at + operation, at + operation)
    at = at + operation + 2
  elseif operation == DECIDE_ONE then
    -- The same as fits and charge, inlined for a bucket and a cost that is not 0.
    local key, term = input[at + 1], input[at + 2]
    local N = input[term + 2]
    local used, nths = first[key] - now, second[key]
    if nths >= N then used, nths = used + 1, 0 end
    if used < 0 then used, nths = 0, 0 end
    local after, after_nths = used + input[term + 7], input[term + 8]
    if nths > 0 then
      -- The sum nths + after_nths could exceed 2^53, so it is not computed.
      if nths >= N - after_nths then
        after, after_nths = after + 1, nths - (N - after_nths)
      else
        after_nths = nths + after_nths
      end
    end
    local fill = input[term + 3]
    if after < fill or (after == fill and after_nths <= input[term + 4]) then
      first[key], second[key] = now + after, after_nths
      changed[key] = true
      admitted[evaluation] = 1
    else
      bring_within_reach(key, term)
      admitted[evaluation] = 0
    end
    at = at + 3
  elseif operation == DECIDE_ALIKE then
    -- The same for several copies.
    local copies, key, term = input[at + 1], input[at + 2], input[at + 3]
    local N, n = input[term + 2], input[term + 12]
    local used, nths = first[key] - now, second[key]
    if nths >= N then used, nths = used + 1, 0 end
    if used < 0 then used, nths = 0, 0 end
    local room, room_nths = input[term + 3] - used, input[term + 4] - nths
    if room_nths < 0 then room, room_nths = room - 1, room_nths + N end
    if n > copies then n = copies end
    if room < 0 then n = 0 end
    local worth, worth_nths = input[term + 7], input[term + 8]
    n = fitting(room, room_nths, worth, worth_nths, N, n)
    if n > 0 then
      worth_nths = n * worth_nths
      used = used + n * worth + floor(worth_nths / N)
      worth_nths = worth_nths % N
      if nths >= N - worth_nths then
        used, nths = used + 1, nths - (N - worth_nths)
      else
        nths = nths + worth_nths
      end
      first[key], second[key] = now + used, nths
      changed[key] = true
    else
      bring_within_reach(key, term)
    end
    admitted[evaluation] = n
    at = at + 4
  elseif operation >= RESERVE then
    local keep, from = input[at + 1] == 1, at + 3
    at = from + 7 * input[at + 2]
    local n = 0
    if operation == RESERVE then
      n = reserve(from, at - 7, keep)
    else
      local work = operation == SETTLE_RECEIPT and settle_receipt or operation == EXTEND and extend or used
      for check = from, at - 7, 7 do
        local key, term = input[check], input[check + 1]
        local was_changed = changed[key]
        changed[key] = nil
        local done, units = work(key, term, id_at(check), input[check + 6])
        n = n + done
        if changed[key] == nil then
          changed[key] = was_changed
        elseif input[term] ~= LOG then
          forget_if_over(key, term)
        end
        if logs and logs[key] then
          logs[key].settled = true
          note_waits(key, term, false)
          if operation ~= EXTEND then
            charges = charges or {}
            charges[#charges + 1] = units or 0
          end
        end
      end
    end
    admitted[evaluation] = n
  elseif operation >= REPORT then
    local holder = struct.pack('<I4I4', input[at + 3], input[at + 4])
    local work = operation == REPORT and report or grant
    admitted[evaluation] =
      work(input[at + 1], input[at + 2], holder, input[at + 5], input[at + 6], input[at + 7], input[at + 8])
    at = at + 9
  else
    local copies = input[at + 1]
    local from = at + 3
    at = from + 2 * input[at + 2]
    local n = copies
    if operation <= LOOK then
      n = decide(operation, copies, from, at - 2)
    elseif operation <= LOOK_IN_STEPS then
      n = decide_in_steps(from, at - 2, operation == DECIDE_IN_STEPS, 2)
    elseif operation == SETTLE then
      settle(input[from], input[from + 1])
    else
      forget(from, at - 2)
    end
    admitted[evaluation] = n
  end
end

if plain < keys then
  -- A log as returned to the node: as it was read or, if it was settled, as it is now.
  local function told(key, log)
    local used, newest = first[key], log.newest
    local costs = {}
    if used > 0 then log.waits[1] = true end
    for cost in pairs(log.waits) do
      if cost <= used then costs[#costs + 1] = cost end
    end
    table.sort(costs)
    if log.settled and second[key] > 0 then
      used = used + second[key]
      if newest < now then newest = now end
    end
    if used == 0 then return false end
    local answer = {used, newest}
    for i = 1, #costs do
      answer[2 * i + 1], answer[2 * i + 2] = costs[i], first_reaching(log, costs[i])
    end
    return answer
  end

  for key = plain + 1, keys do
    if logs[key] then states[key] = told(key, logs[key]) end
  end
end

---------------------------------------------------------------------------------------------------------------- write

-- The slices of a key in the form in which they follow its state; empty if there are none.
local function slices_text(key)
  local slices = ledgers and ledgers[key]
  if not slices or #slices == 0 then return '' end
  local packed = {}
  for i, slice in ipairs(slices) do
    packed[i] = struct.pack('<c8I8I4I4I8I8', slice[HOLDER], slice[NUMBER], slice[UNITS], slice[DEMAND], slice[ENDS],
      slice[WINDOW])
  end
  return '|' .. table.concat(packed)
end

-- The receipts of a key in the form in which they follow its state, and the last expiration; empty if there are none.
local function receipts_text(key, number)
  local of = receipts and receipts[key]
  if not of or (#of.open == 0 and #of.reported == 0) then return '', 0 end
  local packed, over = {struct.pack('<I2I2I8', #of.open, #of.reported, number)}, 0
  for _, one in ipairs(of.open) do
    packed[#packed + 1] = struct.pack('<c16I8I8I8I8', one[ID], one[COST], one[AT], one[NTHS], one[UNTIL])
    if one[UNTIL] > over then over = one[UNTIL] end
  end
  for _, one in ipairs(of.reported) do
    packed[#packed + 1] = struct.pack('<c16I8', one[1], one[2])
    if one[2] > over then over = one[2] end
  end
  return '#' .. table.concat(packed), over
end

-- When a bucket is full again, if each slice is used.
local function over_with_slices(key, term, over)
  local a, b = first[key], second[key]
  for _, slice in ipairs(by_end(ledgers[key])) do
    charge_units(key, term, slice[UNITS], slice[WINDOW], slice[ENDS])
    if slice[ENDS] > over then over = slice[ENDS] end
    if first[key] + 1 > over then over = first[key] + 1 end
  end
  first[key], second[key] = a, b
  return over
end

for key = 1, buckets do
  local keep = changed[key]
  if keep ~= nil then
    local a, b = first[key], second[key]
    -- When it expires, rounded up to whole milliseconds.
    local over = b == 0 and a or a + 1
    local slices = keep and slices_text(key) or ''
    if slices ~= '' then over = over_with_slices(key, ledger_terms[key], over) end
    local held = ''
    if keep and receipts then
      local ends
      held, ends = receipts_text(key, 0)
      if ends > over then over = ends end
    end
    if a < 0 then a = 0 end
    if keep and (over > now or held ~= '') then
      local text = b == 0 and format('%d', a) or format('%d:%d', a, b)
      text = text .. held .. slices
      over = over + 999
      call('SET', KEYS[key], text, 'PXAT', format('%d', (over - over % 1000) / 1000))
    else
      call('UNLINK', KEYS[key])
    end
  end
end

for key = buckets + 1, plain do
  local keep, term = changed[key], input[4 + key - buckets]
  if keep ~= nil and term < 0 then
    local held, over = '', 0
    if keep then held, over = receipts_text(-term, 0) end
    if held ~= '' then
      over = over + 999
      call('SET', KEYS[key], '0' .. held, 'PXAT', format('%d', (over - over % 1000) / 1000))
    else
      call('UNLINK', KEYS[key])
    end
  elseif keep ~= nil then
    local number, count, previous, over, slices, held = first[key], second[key], third[key], 0, '', ''
    local is_calendar = window[key] == 0
    if keep and is_calendar then
      if count > 0 then over = number end
    elseif keep then
      local is_counter = input[term] == COUNTER
      if count > 0 then
        over = (number + (is_counter and 2 or 1)) * window[key]
      elseif previous > 0 and is_counter then
        over = (number + 1) * window[key]
      end
      slices = slices_text(key)
      if slices ~= '' then
        for _, slice in ipairs(ledgers[key]) do
          local ends = (slice[WINDOW] + (is_counter and 2 or 1)) * window[key]
          if ends > over then over = ends end
          if number < 0 then number = slice[WINDOW] end
        end
      end
    end
    if keep and receipts then
      local ends
      if number < 0 then number = 0 end
      held, ends = receipts_text(key, number)
      if ends > over then over = ends end
    end
    if over > now or held ~= '' then
      local text
      if is_calendar then
        text = format('%d:%d', count, number)
      else
        text = format('%d', count * WINDOWS + number % WINDOWS)
      end
      if previous > 0 then text = format('%s:%d', text, previous) end
      text = text .. held .. slices
      over = over + 999
      call('SET', KEYS[key], text, 'PXAT', format('%d', (over - over % 1000) / 1000))
    else
      call('UNLINK', KEYS[key])
    end
  end
end

if plain < keys then
  -- Appends what was charged, all at one time. A log that is short, or half expired, is rewritten without the expired
  -- entries.
  local function append(key, log)
    local at = log.newest > now and log.newest or now
    local entry = struct.pack('<I8I4', at, (log.total + second[key]) % TOTALS)
    local stays = log.entries
    if log.live < log.entries and (log.newest == at or log.moved) then stays = stays - 1 end
    local over = at + window[key] + 999
    over = format('%d', (over - over % 1000) / 1000)
    local from, to = HEAD + log.live * ENTRY, HEAD + stays * ENTRY
    local whole = #log.bytes >= HEAD + log.entries * ENTRY
    if whole or 2 * log.live > log.entries then
      local body = ''
      if whole then
        body = string.sub(log.bytes, from + 1, to)
      elseif from < to then
        body = call('GETRANGE', log.key, from, to - 1)
      end
      call('SET', log.key, struct.pack('<I4I4', 0, log.before) .. body .. entry, 'PXAT', over)
      return
    end
    call('SETRANGE', log.key, to, entry)
    if log.live > log.dropped then call('SETRANGE', log.key, 0, struct.pack('<I4I4', log.live, log.before)) end
    call('PEXPIREAT', log.key, over)
  end

  for key = plain + 1, keys do
    local log, keep = logs[key], changed[key]
    if keep then
      local over = log.newest + window[key]
      if second[key] > 0 then
        append(key, log)
      elseif log.entries > 0 and over > now then
        over = over + 999
        call('SET', log.key, log.rewritten, 'PXAT', format('%d', (over - over % 1000) / 1000))
      else
        call('UNLINK', log.key)
      end
    elseif keep == false then
      call('UNLINK', KEYS[key])
    end
  end
end

return {now, states, admitted, charges}
