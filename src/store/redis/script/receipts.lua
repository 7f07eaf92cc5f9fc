if needs > 1 then
  -- The number of the window in which a charge made now counts.
  local function charged_window(key, term)
    if leases and leases[key] then return window_at(key, term) end
    local number = floor(now / input[term + 3])
    return first[key] > number and first[key] or number
  end

  -- Adds a receipt, or writes a changed one.
  local function keep_record(of, name, record)
    of.records[name], of.touched[name], of.dirty = record, true, true
    if record.ends < of.first then of.first = record.ends end
    if record.ends > of.last then of.last = record.ends end
  end

  local function remove_open(of, name, record)
    of.records[name], of.touched[name], of.dirty = false, true, true
    of.open, of.units = of.open - 1, of.units - record.cost
    of.gone, of.gone_units = of.gone + 1, of.gone_units + record.cost
    forget_bounds(of)
  end

  -- Returns 1 if the units of a check fit in addition to those held and those of earlier checks in its evaluation.
  hold_fits = function(at, is_open)
    local key, term = input[at], input[at + 1]
    local of, cost, limit = receipts and receipts[key], input[term + 1], input[term + 2]
    if input[at + 2] == 0 then return cost == 0 and 1 or 0 end
    local held = of.units + second[key]
    if of.wanted == 0 then of.wanted = 1 end
    if is_open then cost = 0 end
    local fits_now = held + cost <= limit and not (cost > 0 and of.open >= MOST_RECEIPTS)
    if not fits_now then
      -- A node computes when this, or at least one unit, will fit.
      local more = held + (cost > 1 and cost <= limit and cost or 1) - limit
      if more > of.wanted then of.wanted = more end
    end
    return (is_open or fits_now) and 1 or 0
  end

  -- Notes that a node computes when one more unit will fit.
  local function note_holds(of, term)
    if not of.is_holds then return end
    local more = of.units + 1 - input[term + 2]
    if more < 1 then more = 1 end
    if more > of.wanted then of.wanted = more end
  end

  -- Releases held units, oldest first.
  end_oldest = function(key, units)
    local of = receipts_of(key, true)
    if not of then return end
    local names = {}
    for name, record in pairs(of.records) do
      if record and record.cost then names[#names + 1] = name end
    end
    table.sort(names, function(a, b) return of.records[a].sequence < of.records[b].sequence end)
    for _, name in ipairs(names) do
      if units == 0 then return end
      local oldest = of.records[name]
      if units < oldest.cost then
        oldest.cost, of.units = oldest.cost - units, of.units - units
        keep_record(of, name, oldest)
        return
      end
      units = units - oldest.cost
      remove_open(of, name, oldest)
    end
  end

  reserve = function(from, to, keep)
    local open, marks = {}, {}
    for at = from, to, 4 do
      local of = receipts and input[at] > 0 and input[at + 2] > 0 and receipts_of(input[at], keep)
      if of and of.records[name_at(input[at + 2])] then open[at] = true end
    end
    if decide_in_steps(from, to, keep, 4, open, marks) == 0 then return 0 end
    local opened = 1
    for at = from, to, 4 do
      local key, term, id = input[at], input[at + 1], input[at + 2]
      if keep and key > 0 and id > 0 then
        local of, name = receipts[key], name_at(id)
        local record = of.records[name]
        if not record and of.open < MOST_RECEIPTS then
          of.open, of.sequence = of.open + 1, of.sequence + 1
          record = {cost = 0, at = 0, nths = 0, ends = now + input[at + 3], sequence = of.sequence, epoch = of.epoch}
          opened = opened + 1
        end
        if record and not open[at] then
          local cost = input[term + 1]
          if record.cost > 0 then of.gone, of.gone_units = of.gone + 1, of.gone_units + record.cost end
          record.cost, of.units = record.cost + cost, of.units + cost
          record.epoch = of.epoch
          if input[term] == HOLDS then
            second[key] = 0
          elseif input[term] == LOG then
            record.at = logs[key].newest > now and logs[key].newest or now
          elseif input[term] <= QUEUE or window[key] == 0 then
            local mark = marks[at]
            record.at, record.nths = mark[1] > 0 and mark[1] or 0, input[term] <= QUEUE and mark[2] or 0
          else
            record.at, record.nths = charged_window(key, term), 0
          end
          if record.at > of.latest or (record.at == of.latest and record.nths > of.latest_nths) then
            of.latest, of.latest_nths = record.at, record.nths
          end
          keep_record(of, name, record)
        end
      end
    end
    return opened
  end

  -- Gives back what is still visible of a reserved charge, at most `units`.
  local function give_back(key, term, record, units)
    local of = input[term]
    if of == HOLDS then return end
    if of == LOG then return refund_log(key, units, record.at) end
    if of > QUEUE then
      local counts = record.at == first[key] and second or (of == COUNTER and record.at == first[key] - 1 and third)
      if counts and counts[key] > 0 then
        counts[key] = units < counts[key] and counts[key] - units or 0
        changed[key] = true
      end
      return
    end
    apply_credits(receipts[key], record)
    local whole, rest = first[key], second[key]
    if of == QUEUE and (whole ~= record.at or rest ~= record.nths) then return end
    if units > input[term + 11] then units = input[term + 11] end
    local N, nths = input[term + 2], units * input[term + 10]  -- at most burst x N, and so below 2^53
    local visible, visible_nths = span_ahead(record.at, record.nths, now, term)
    local back, back_nths =
      credit(key, term, units * input[term + 9] + floor(nths / N), nths % N, visible, visible_nths)
    if whole ~= first[key] or rest ~= second[key] then changed[key] = true end
    lower(key, term, record.at, record.nths, back, back_nths)
  end

  -- Each of these functions operates on one check. It returns 1 if something was done and, for a log, the units
  -- charged.

  settle_receipt = function(key, term, name, actual)
    if leases then expire(key, term) end
    local of = name and receipts_of(key, true)
    if not of then return 0 end
    local record = of.records[name]
    if record then
      apply_credits(of, record)  -- before they are forgotten with the last receipt
      remove_open(of, name, record)
    end
    note_holds(of, term)
    if not record then return 0 end
    if actual < 0 then actual = record.cost end
    if actual < record.cost then give_back(key, term, record, record.cost - actual) end
    if actual > record.cost then return 1, owe_units(key, term, actual - record.cost) end
    return 1
  end

  extend = function(key, term, name, lasts)
    if leases then expire(key, term) end
    local of = name and receipts_of(key, true)
    if not of then return 0 end
    note_holds(of, term)
    local record = of.records[name]
    if not record then return 0 end
    if now + lasts > record.ends then
      record.ends = now + lasts
      of.gone, of.gone_units = of.gone + 1, of.gone_units + record.cost
      keep_record(of, name, record)
    end
    return 1
  end

  used = function(key, term, name)
    if leases then expire(key, term) end
    local of = name and receipts_of(key, true)
    if of then
      note_holds(of, term)
      if of.records[name] then return 0 end
      if of.reported < MOST_RECEIPTS then  -- else it is charged, and so would be a repetition
        of.reported = of.reported + 1
        keep_record(of, name, {ends = now + 3600000000})
      end
    end
    if input[term + 1] > 0 then return 1, owe_units(key, term, input[term + 1]) end
    return 1
  end
end
