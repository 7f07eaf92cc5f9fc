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
    if a < 0 then a = 0 end
    if keep and over > now then
      local text = b == 0 and format('%d', a) or format('%d:%d', a, b)
      text = text .. slices
      over = over + 999
      call('SET', KEYS[key], text, 'PXAT', format('%d', (over - over % 1000) / 1000))
    else
      call('UNLINK', KEYS[key])
    end
  end
end

for key = buckets + 1, plain do
  local keep, term = changed[key], input[5 + key - buckets]
  if keep ~= nil and (term == 0 or input[term] ~= HOLDS) then
    local number, count, previous, over, slices = first[key], second[key], third[key], 0, ''
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
    if over > now then
      local text
      if is_calendar then
        text = format('%d:%d', count, number)
      else
        text = format('%d', count * WINDOWS + number % WINDOWS)
      end
      if previous > 0 then text = format('%s:%d', text, previous) end
      text = text .. slices
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

local receipts_answer
if receipts then
  receipts_answer = receipts_read()
  for _, of in pairs(receipts) do write_receipts(of) end
end

if charges or receipts_answer then
  return {now, states, admitted, charges or {}, {}, receipts_answer or {}}
end
return {now, states, admitted}
