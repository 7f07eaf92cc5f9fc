-- Leased slices: src/core/ledger.h explains them.

if may_expire or needs > 1 or (leases and needs > 0) then
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
    local of = input[term] == FIXED and leases and leases[key]
    if of and of[WINDOW] > number then number = of[WINDOW] end
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

  -- Charges units of slices that expire at a time.
  charge_expired = function(key, term, units, at)
    local number = 0
    if input[term] == FIXED then
      number = leases[key][WINDOW]
    elseif input[term] == COUNTER then
      number = floor(at / input[term + 3])
    end
    charge_units(key, term, units, number, at)
  end

  -- Reads all slices of a key that were not read yet. A slice of another form is ignored: it counts as lost.
  read_slices = function(key)
    slices = slices or {}
    slices[key] = slices[key] or {}
    local of, valid = slices[key], {}
    for _, bytes in ipairs(call('HVALS', KEYS[key] .. ':s')) do
      if #bytes == SLICE then
        local holder, number, units, demand, ends, used_units = struct.unpack('<c8I8I4I4I8I8', bytes)
        if of[holder] == nil then
          of[holder] = {holder, number, units, demand, ends, used_units}
          valid[#valid + 1] = bytes
        end
      end
    end
    all_read[key] = true
    if valid[1] then
      slices_read = slices_read or {}
      slices_read[#slices_read + 1] = key
      slices_read[#slices_read + 1] = table.concat(valid)
    end
  end

  -- Notes that a slice must be written.
  touch_slice = function(key, holder)
    dirty_slices = dirty_slices or {}
    dirty_slices[key] = dirty_slices[key] or {}
    dirty_slices[key][holder] = true
    changed[key] = true
  end

  -- Charges expired slices, each at its expiration, if there may be any. Lost ones are charged now.
  expire = function(key, term)
    local of = leases[key]
    if not of then return end
    lease_terms[key] = term
    if now < of[FIRST] then return end
    if not all_read[key] then read_slices(key) end
    local expired, lost = {}, of[OUT]
    local live = {0, 0, 0, of[LAST], 0, of[WINDOW]}
    for holder, slice in pairs(slices[key]) do
      lost = lost - slice[UNITS]
      if slice[ENDS] <= now then
        expired[#expired + 1] = slice
        slices[key][holder] = false
        touch_slice(key, holder)
      else
        live[COUNT], live[OUT], live[DEMANDS] = live[COUNT] + 1, live[OUT] + slice[UNITS], live[DEMANDS] + slice[DEMAND]
        if slice[ENDS] < live[FIRST] then live[FIRST] = slice[ENDS] end
        if slice[ENDS] > live[LAST] then live[LAST] = slice[ENDS] end
      end
    end
    table.sort(expired, function(a, b) return a[ENDS] < b[ENDS] end)
    for _, slice in ipairs(expired) do charge_expired(key, term, slice[UNITS], slice[ENDS]) end
    if lost > 0 then charge_units(key, term, lost, window_at(key, term), now) end
    leases[key] = live[COUNT] > 0 and live or nil
    changed[key] = true
    forget_if_over(key, term)
  end

  -- The result of `work` on a state as if all leased units were used now.
  with_held = function(key, term, work, copies)
    local a, b, c = first[key], second[key], third[key]
    local of = leases[key]
    lease_terms[key] = term
    if input[term] <= QUEUE then
      local held, burst, N = of[OUT], input[term + 11], input[term + 2]
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
      charge_units(key, term, of[OUT], input[term] == FIXED and of[WINDOW] or window_at(key, term), now)
    end
    local result = work(key, term, copies)
    first[key], second[key], third[key] = a, b, c
    return result
  end
end

if needs > 1 then
  local taken, grants = {}, 0  -- whether each message was accepted, in order; how many have reached their grant

  -- The slice of a holder; false if there is none.
  local function slice_of(key, holder)
    slices = slices or {}
    local of = slices[key]
    if not of then
      of = {}
      slices[key] = of
    end
    if of[holder] ~= nil then return of[holder] end
    local slice = false
    if leases and leases[key] and not (is_first[key] or all_read[key]) then
      local bytes = call('HGET', KEYS[key] .. ':s', holder)
      if bytes and #bytes == SLICE then
        local _, number, units, demand, ends, used_units = struct.unpack('<c8I8I4I4I8I8', bytes)
        slice = {holder, number, units, demand, ends, used_units}
        slices_read = slices_read or {}
        slices_read[#slices_read + 1] = key
        slices_read[#slices_read + 1] = bytes
      end
    end
    of[holder] = slice
    return slice
  end

  report = function(key, term, holder, number, total, keep, unasked, total_before, their_window)
    leases = leases or {}
    expire(key, term)
    lease_terms[key] = term
    local slice = slice_of(key, holder)
    local is_new = not slice or number > slice[NUMBER]
    taken[#taken + 1] = is_new
    if not is_new then return 0 end
    if slice then
      local of, units = leases[key], slice[UNITS]
      forget_if_over(key, term)
      local charged_so_far = total < slice[USED_UNITS] and 0 or slice[USED_UNITS]
      local used_units, before = total - charged_so_far, 0
      if used_units > units then used_units = units end
      local number_of = window_at(key, term)
      local charged = number_of
      if keep > units - used_units then keep = units - used_units end
      if input[term] == FIXED then
        charged = of[WINDOW]
        if charged ~= number_of then keep = 0 end
      end
      of[OUT] = of[OUT] - (units - keep)
      if of[OUT] < 0 then of[OUT] = 0 end
      slice[UNITS], slice[NUMBER], slice[USED_UNITS] = keep, number, total
      if input[term] == COUNTER then
        if their_window == 0 then their_window = number_of end
        if total_before > charged_so_far then before = total_before - charged_so_far end
        if before > used_units then before = used_units end
        charge_units(key, term, before, their_window - 1 < number_of and their_window - 1 or number_of, now)
        if their_window < number_of then charged = their_window end
      end
      charge_units(key, term, used_units - before, charged, now)
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

  -- The units of a holder of an approximate limit.
  local function share_of(of, keep, free, want, demand, demand_of_others, nodes)
    local unused = free + of[OUT]
    local others = of[OUT] - keep
    if others < 0 then others = 0 end
    local counted = unused < TOTALS - 1 and unused or TOTALS - 1
    local least = floor((counted + 4 * nodes - 1) / (4 * nodes))
    local part, all = least, demand + demand_of_others
    if all > 0 then
      local by_demand = share(counted, demand, all)
      if by_demand > part then part = by_demand end
    end
    if part > least + 4 * want then part = least + 4 * want end
    local most = unused - others
    if part > most then part = most end
    return part > keep and part or keep
  end

  grant = function(key, term, holder, number, want, nodes, lease, total)
    grants = grants + 1
    if not taken[grants] then return 0 end
    local of_window = window_at(key, term)
    local slice = slice_of(key, holder)
    local of = leases[key] or {0, 0, 0, 0, 0, 0}
    local keep, before = slice and slice[UNITS] or 0, slice and slice[DEMAND] or 0
    local free = of[OUT] > 0 and with_held(key, term, units_left) or units_left(key, term)
    local units, demand = keep, 0
    if want > TOTALS - 1 then want = TOTALS - 1 end
    if nodes == 0 then
      local capacity = input[term] <= QUEUE and input[term + 11] or input[term + 2]
      local more = floor(capacity / 2) - of[OUT]
      if floor(free / 2) < more then more = floor(free / 2) end
      if want < more then more = want end
      if more >= 4 then units = keep + more end
      if units > TOTALS - 1 then units = TOTALS - 1 end
    elseif want > 0 then
      demand = before - floor(before / 10) + want
      if demand > TOTALS - 1 then demand = TOTALS - 1 end
      local others = of[DEMANDS] > before and of[DEMANDS] - before or 0
      units = share_of(of, keep, free, want, demand, others, nodes)
    end
    local stays = units > 0 or (nodes > 0 and want > 0)
    if not stays or (not slice and of[COUNT] >= MOST_SLICES) then
      if slice then
        of[COUNT], of[OUT] = of[COUNT] - 1, of[OUT] > keep and of[OUT] - keep or 0
        of[DEMANDS] = of[DEMANDS] > before and of[DEMANDS] - before or 0
        if of[COUNT] == 0 then leases[key] = nil end
        slices[key][holder] = false
        touch_slice(key, holder)
      end
      return 0
    end
    local ends = now + lease
    if input[term] == FIXED then
      local window_ends = (of_window + 1) * input[term + 3]
      if window_ends < ends then ends = window_ends end
      of[WINDOW] = of_window
    end
    if not slice then
      of[COUNT] = of[COUNT] + 1
      if of[COUNT] == 1 then is_first[key] = true end
    end
    of[OUT] = of[OUT] + units - keep
    of[DEMANDS] = of[DEMANDS] + demand - (of[DEMANDS] < before and of[DEMANDS] or before)
    if of[COUNT] == 1 or ends < of[FIRST] then of[FIRST] = ends end
    if of[COUNT] == 1 or ends > of[LAST] then of[LAST] = ends end
    leases[key] = of
    slices[key][holder] = {holder, number, units, demand, ends, total}
    touch_slice(key, holder)
    return units
  end
end

if leases and needs > 2 then
  for key in pairs(leases) do read_slices(key) end
end
