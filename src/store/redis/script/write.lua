---------------------------------------------------------------------------------------------------------------- write

-- The totals of a key's slices in the form in which they follow its state; empty if there are none.
local function leases_text(key)
  local of = leases and leases[key]
  if not of then return '' end
  return '!' .. struct.pack('<I2I8I8I8I8I8', of[COUNT], of[OUT], of[DEMANDS], of[FIRST], of[LAST], of[WINDOW])
end

-- Writes the changed slices of a key, which expire with its value.
local function write_slices(key, expires)
  local hash, dirty = KEYS[key] .. ':s', dirty_slices[key]
  local was_changed, was_removed = {}, {}
  for holder in pairs(dirty) do
    local slice = slices[key][holder]
    if slice then
      was_changed[#was_changed + 1] = holder
      was_changed[#was_changed + 1] =
        struct.pack('<c8I8I4I4I8I8', holder, slice[NUMBER], slice[UNITS], slice[DEMAND], slice[ENDS], slice[USED_UNITS])
    else
      was_removed[#was_removed + 1] = holder
    end
  end
  if is_first[key] or not (leases and leases[key]) then
    call('UNLINK', hash)  -- for a first slice: the hash may be one without its value
  elseif was_removed[1] then
    call('HDEL', hash, unpack(was_removed))
  end
  if was_changed[1] then
    call('HSET', hash, unpack(was_changed))
    call('PEXPIREAT', hash, expires)
  end
end

-- When a bucket is full again, if all leased units are used at the last expiration.
local function over_with_leases(key, term, over)
  local of, burst = leases[key], input[term + 11]
  if of[LAST] > over then over = of[LAST] end
  local units = of[OUT] < burst and of[OUT] or burst
  return over + units * input[term + 9] + floor(units * input[term + 10] / input[term + 2]) + 1
end

for key = 1, buckets do
  local keep = changed[key]
  if keep ~= nil then
    local a, b = first[key], second[key]
    -- When it expires, rounded up to whole milliseconds.
    local over = b == 0 and a or a + 1
    local leased = keep and leases_text(key) or ''
    if leased ~= '' then over = over_with_leases(key, lease_terms[key], over) end
    if a < 0 then a = 0 end
    if keep and over > now then
      local text = b == 0 and format('%d', a) or format('%d:%d', a, b)
      text = text .. leased
      over = over + 999
      over = format('%d', (over - over % 1000) / 1000)
      call('SET', KEYS[key], text, 'PXAT', over)
    else
      call('UNLINK', KEYS[key])
    end
    if dirty_slices and dirty_slices[key] then write_slices(key, over) end
  end
end

for key = buckets + 1, plain do
  local keep, term = changed[key], input[5 + key - buckets]
  if keep ~= nil and (term == 0 or input[term] ~= HOLDS) then
    local number, count, previous, over, leased = first[key], second[key], third[key], 0, ''
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
      leased = leases_text(key)
      if leased ~= '' then
        local of = leases[key]
        local ends = (of[WINDOW] + 1) * window[key]
        if is_counter then ends = (floor(of[LAST] / window[key]) + 2) * window[key] end
        if ends > over then over = ends end
        if number < 0 then number = is_counter and floor(now / window[key]) or of[WINDOW] end
      end
    end
    if over > now then
      local text
      if is_calendar then
        text = format('%d:%d', count, number)
      else
        text = format('%d', count * WINDOWS + number % WINDOWS)
      end
      if previous > 0 then text = format('%s:%d', text, previous) end
      text = text .. leased
      over = over + 999
      over = format('%d', (over - over % 1000) / 1000)
      call('SET', KEYS[key], text, 'PXAT', over)
    else
      call('UNLINK', KEYS[key])
    end
    if dirty_slices and dirty_slices[key] then write_slices(key, over) end
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

local receipts_answer
if receipts then
  receipts_answer = receipts_read()
  for _, of in pairs(receipts) do write_receipts(of) end
end

if charges or slices_read or receipts_answer then
  return {now, states, admitted, charges or {}, slices_read or {}, receipts_answer or {}}
end
return {now, states, admitted}
