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
  lease_terms[key] = term
end

-- Creating a function takes time, and most batches need few: so these are created on demand.
local share, rolled, in_calendar, fits, charge, note_waits, decide
local owe_bucket, charge_units, window_at, forget_if_over, expire, with_held, charge_expired, read_slices, touch_slice
local owe_units, lower, credit, refund_log, refund, decide_in_steps, settle, forget
local hold_fits, end_oldest, reserve, settle_receipt, extend, used, report, grant

if needs > 0 or may_expire then
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
    if leases and leases[key] then return with_held(key, term, fits_as_it_is, copies) end
    return fits_as_it_is(key, term, copies)
  end

  -- Charges a check n times. It must fit.
  charge = function(key, term, n)
    local of, cost = input[term], input[term + 1]
    if cost == 0 then return end
    if leases and leases[key] and of > QUEUE then
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
    if may_expire then
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
