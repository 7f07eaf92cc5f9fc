if needs > 1 then
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
    if leases and leases[key] then return window_at(key, term) end
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
    if leases then expire(key, term) end
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
    if leases then expire(key, term) end
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
    if leases then expire(key, term) end
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
end
