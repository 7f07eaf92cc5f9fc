if needs > 1 then
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
