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

  -- Moves the receipts after an arrival time earlier by what was given back, when they are read.
  lower = function(key, term, at, nths, back, back_nths)
    local of = receipts and receipts[key]
    if not of or of.open == 0 or (back == 0 and back_nths == 0) then return end
    if of.latest < at or (of.latest == at and of.latest_nths <= nths) then return end
    if at < 0 then at, nths = 0, 0 end
    of.credits = of.credits .. struct.pack('<I7I7I7I7I7', at, nths, back, back_nths, input[term + 2])
    of.epoch, of.dirty = of.epoch + 1, true
  end

  -- Credits a bucket with at most `most`, and at most the visible part of the charge. Returns the credit.
  credit = function(key, term, most, max_nths, visible, visible_nths)
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
    if may_expire then
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

  settle = function(key, term)
    if leases then expire(key, term) end
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
      local text = states[key]
      local had_slices = text and string.find(text, '!', 1, true)
      if had_slices or (leases and leases[key]) then
        if had_slices and not all_read[key] then read_slices(key) end
        if leases then leases[key] = nil end
        for holder in pairs(slices[key]) do
          slices[key][holder] = false
          touch_slice(key, holder)
        end
        changed[key] = false
      end
      if receipts and receipts[key] then forget_receipts(receipts[key]) end
    end
  end
end
