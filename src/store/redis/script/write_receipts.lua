if receipts then
  local EARLIEST_CREDITS, MOST_CREDITS = 8, 64
  local pack, unpack_bytes = struct.pack, struct.unpack

  -- Notes holds for the answer: the earliest to expire that have the units that a check waits for, and the last. The
  -- order is read as it was before the batch, so as many more are read as the batch has removed or moved.
  local function tell_order(of)
    if of.all or not of.read or of.wanted == 0 then return end
    local function read_order(command, units)
      local from, size, sum, count = 0, of.gone + 1, 0, 0
      repeat
        local part = call(command, of.order, from, from + size - 1, 'WITHSCORES')
        local is_end = #part < 2 * size
        for at = 1, #part, 2 do
          local member = part[at]
          if #member > NAME then
            local cost = (unpack_bytes('<I7', member, NAME + 1))
            sum, count = sum + cost, count + 1
            tell(of, string.sub(member, 1, NAME),
              {cost = cost, at = 0, nths = 0, ends = tonumber(part[at + 1]), sequence = 0})
          end
        end
        from, size = from + size, 4 * size
      until is_end or (sum >= units and count > of.gone)
    end
    read_order('ZRANGE', of.wanted + of.gone_units)
    read_order('ZREVRANGE', 0)
  end

  -- Returns what was read of all receipts: the number of a key and bytes, alternately.
  receipts_read = function()
    local answer = {}
    for key, of in pairs(receipts) do
      if of.is_holds then tell_order(of) end
      if of.read then
        answer[#answer + 1] = key
        answer[#answer + 1] = of.read .. table.concat(of.told)
      end
    end
    return answer
  end

  -- Calls a command with any number of arguments.
  local function call_with(command, key, arguments)
    for from = 1, #arguments, 1000 do
      call(command, key, unpack(arguments, from, from + 999 < #arguments and from + 999 or #arguments))
    end
  end

  -- Decodes the pending credits for many receipts. Returns a function that moves a position which has seen `epoch`
  -- credits. A position after all that it has not seen moves by their sum, and one before all of them stays; one in
  -- between moves step by step.
  local function mover_of(of)
    local credits, is_exact = {}, true
    local N = unpack_bytes('<I7', of.credits, #of.credits - 6)
    local count = #of.credits / CREDIT
    for i = count, 1, -1 do
      local at, nths, back, back_nths, its_N = unpack_bytes('<I7I7I7I7I7', of.credits, (i - 1) * CREDIT + 1)
      if its_N ~= N or nths >= N then is_exact = false end
      local credit_i = {at = at, nths = nths, back = back, back_nths = back_nths, N = its_N}
      local later = credits[i + 1]
      -- `sum` is that of this and all later credits; they all apply after `above`, and none up to `below`.
      credit_i.sum, credit_i.sum_nths = back, back_nths
      credit_i.above, credit_i.above_nths, credit_i.below, credit_i.below_nths = at, nths, at, nths
      if later then
        local function plus(whole, rest)
          if rest >= N - back_nths then return whole + back + 1, rest - (N - back_nths) end
          return whole + back, rest + back_nths
        end
        credit_i.sum, credit_i.sum_nths = plus(later.sum, later.sum_nths)
        local whole, rest = plus(later.above, later.above_nths)
        if whole > at or (whole == at and rest > nths) then credit_i.above, credit_i.above_nths = whole, rest end
        if later.below < at or (later.below == at and later.below_nths < nths) then
          credit_i.below, credit_i.below_nths = later.below, later.below_nths
        end
      end
      credits[i] = credit_i
    end
    return function(whole, rest, epoch)
      local from = count - (of.epoch - epoch) + 1
      local next_one = credits[from]
      if not next_one then return whole, rest end
      if is_exact and rest < N then
        local above = next_one.above
        if (whole > above or (whole == above and rest > next_one.above_nths)) and whole > next_one.sum then
          whole, rest = whole - next_one.sum, rest - next_one.sum_nths
          if rest < 0 then whole, rest = whole - 1, rest + N end
          return whole, rest
        end
        local below = next_one.below
        if whole < below or (whole == below and rest <= next_one.below_nths) then return whole, rest end
      end
      for i = from, count do
        local by = credits[i]
        whole, rest = lowered(whole, rest, by.at, by.nths, by.back, by.back_nths, by.N)
      end
      return whole, rest
    end
  end

  -- Applies all credits to all receipts, so that the credits can be forgotten. Adds receipts that the batch does not
  -- know to `set`.
  local function fold_credits(of, set)
    for name, record in pairs(of.records) do
      if record and record.cost then
        apply_credits(of, record)
        of.touched[name] = true
      end
    end
    if not of.all then
      local move, fields = mover_of(of), call('HGETALL', of.hash)
      for i = 1, #fields, 2 do
        local name, bytes = fields[i], fields[i + 1]
        if of.records[name] == nil and #name == NAME and #bytes == 42 then
          local cost, at, nths, ends, sequence, epoch = unpack_bytes('<I7I7I7I7I7I7', bytes)
          at, nths = move(at, nths, epoch)
          set[#set + 1] = name
          set[#set + 1] = pack('<I7I7I7I7I7I7', cost, at, nths, ends, sequence, of.epoch)
        end
      end
    end
    of.credits = ''
  end

  local function write_order(of, added, removed)
    if of.is_disordered then
      added, removed = {}, {}
      call('UNLINK', of.order)
      for name, record in pairs(of.records) do
        if record then
          added[#added + 1] = format('%d', record.ends)
          added[#added + 1] = member_of(name, record)
        end
      end
    elseif of.is_stale then
      call('UNLINK', of.order)
    end
    -- In this order the set is never empty in between, and keeps its expiration.
    call_with('ZADD', of.order, added)
    call_with('ZREM', of.order, removed)
  end

  write_receipts = function(of)
    if not of.dirty then return end
    if of.is_forgotten then call('UNLINK', of.hash, of.order, KEYS[of.key] .. ':r') end
    if of.open == 0 and of.reported == 0 then
      if of.read and not of.is_forgotten then call('UNLINK', of.hash, of.order) end
      return
    end
    local most = EARLIEST_CREDITS + floor(of.open / 8)
    local set, deleted, added, removed = {'t', pack_totals(of)}, {}, {}, {}
    if #of.credits / CREDIT >= (most < MOST_CREDITS and most or MOST_CREDITS) then fold_credits(of, set) end
    if of.credits ~= '' then
      set[3], set[4] = 'c', of.credits
    elseif of.had_credits then
      deleted[1] = 'c'
    end
    for name in pairs(of.touched) do
      local record, was = of.records[name], of.was[name]
      local member = record and member_of(name, record)
      if record then
        set[#set + 1] = name
        set[#set + 1] = record.cost and
          pack('<I7I7I7I7I7I7', record.cost, record.at, record.nths, record.ends, record.sequence, record.epoch) or
          pack('<I7', record.ends)
        if not was or was.member ~= member or was.ends ~= record.ends then
          added[#added + 1] = format('%d', record.ends)
          added[#added + 1] = member
        end
      elseif was then
        deleted[#deleted + 1] = name
      end
      if was and was.member ~= member then removed[#removed + 1] = was.member end
    end
    call_with('HSET', of.hash, set)
    call_with('HDEL', of.hash, deleted)
    write_order(of, added, removed)
    if of.last ~= of.expires_at then
      local over = of.last + 999
      over = format('%d', (over - over % 1000) / 1000)
      call('PEXPIREAT', of.hash, over)
      call('PEXPIREAT', of.order, over)
    end
  end
end
