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
    local term = input[5 + key - buckets]
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
