-------------------------------------------------------------------------------------------------------------- receipts

-- Receipts are in a hash next to the state: `t` has totals, `c` the pending credits of a bucket, `o` and an id an open
-- receipt, `i` and an id the id of a report. A sorted set has the same fields by expiration; that of a receipt is
-- followed by its cost. A batch reads the totals and the receipts that it names. The other ones are read if they have
-- expired, in the order of expiration as far as a concurrency limit needs them, or if all of them are needed.
local VERSION, MOST_RECEIPTS = 1, 1024
local NAME = 17    -- bytes of a field
local CREDIT = 35  -- bytes of a credit

local name_at, pack_totals, member_of, tell, lowered, apply_credits, forget_bounds, forget_receipts, receipts_of
local receipts_read, write_receipts

if ARGV[2] then
  local pack, unpack_bytes = struct.pack, struct.unpack
  local named = cmsgpack.unpack(ARGV[2])

  name_at = function(number)
    return string.sub(ARGV[3], NAME * (number - 1) + 1, NAME * number)
  end

  -- The receipts of a key that has none.
  --   open ... epoch        the totals; `epoch` is the number of credits so far
  --   records               by name: those known; false: removed
  --   was                   by name: the member of the order and the expiration that are stored
  --   touched               by name: true for those to write
  --   told, is_told         the records to return, packed; by name: whether it is one of them
  --   wanted                holds: the units that a check waits for
  --   gone, gone_units      holds: how many were removed or moved, and their units
  local function fresh(key, is_holds)
    return {
      key = key, hash = is_holds and KEYS[key] or KEYS[key] .. ':r', order = KEYS[key] .. ':e', is_holds = is_holds,
      open = 0, reported = 0, units = 0, first = EXACT - 1, last = 0, sequence = 0, latest = 0, latest_nths = 0,
      epoch = 0, credits = '', records = {}, was = {}, touched = {}, told = {}, is_told = {},
      wanted = 0, gone = 0, gone_units = 0,
    }
  end

  pack_totals = function(of)
    local units = of.is_holds and of.units or 0  -- no other limit needs them, and they might not be exact
    return pack('<I1I2I2I7I7I7I7I7I7I7', VERSION, of.open, of.reported, units, of.first, of.last, of.sequence,
      of.latest, of.latest_nths, of.epoch)
  end

  -- The name of a receipt in the order of expiration.
  member_of = function(name, record)
    return record.cost and name .. pack('<I7', record.cost) or name
  end

  -- Notes a receipt for the answer, as it was before the batch.
  tell = function(of, name, record)
    if of.is_told[name] then return end
    of.is_told[name] = true
    local at = #of.told
    of.told[at + 1] = name
    if record.cost then
      of.told[at + 2] =
        pack('<I7I7I7I7I7', record.cost, record.at, record.nths, record.ends, record.sequence)
    else
      of.told[at + 2] = pack('<I7', record.ends)
    end
  end

  -- A position after a credit: later charges move earlier by what was given back.
  lowered = function(whole, rest, at, nths, back, back_nths, N)
    if whole < at or (whole == at and rest <= nths) then return whole, rest end
    if rest >= N then whole, rest = whole + 1, 0 end
    whole, rest = whole - back, rest - back_nths
    if rest < 0 then whole, rest = whole - 1, rest + N end
    if whole < 0 then return 0, 0 end
    return whole, rest
  end

  -- Applies the credits given since a bucket's receipt was written. The result is the same as if each had been applied
  -- when it was given.
  apply_credits = function(of, record)
    local pending = of.epoch - record.epoch
    if pending == 0 then return end
    local size = #of.credits
    for from = size - pending * CREDIT + 1, size, CREDIT do
      local at, nths, back, back_nths, N = unpack_bytes('<I7I7I7I7I7', of.credits, from)
      record.at, record.nths = lowered(record.at, record.nths, at, nths, back, back_nths, N)
    end
    record.epoch = of.epoch
  end

  -- Adds a receipt of the hash. Returns false if it is invalid.
  local function read_record(of, name, bytes)
    local record
    if string.sub(name, 1, 1) == 'o' then
      if #name ~= NAME or #bytes ~= 42 then return false end
      local cost, at, nths, ends, sequence, epoch = unpack_bytes('<I7I7I7I7I7I7', bytes)
      if cost >= EXACT or at >= EXACT or nths >= EXACT or ends >= EXACT or epoch > of.epoch or
        #of.credits < (of.epoch - epoch) * CREDIT then
        return false
      end
      record = {cost = cost, at = at, nths = nths, ends = ends, sequence = sequence, epoch = epoch}
      apply_credits(of, record)
    else
      if #name ~= NAME or #bytes ~= 7 then return false end
      record = {ends = (unpack_bytes('<I7', bytes))}
      if record.ends >= EXACT then return false end
    end
    of.records[name] = record
    of.was[name] = {member = member_of(name, record), ends = record.ends}
    return true
  end

  local function read_totals(of, bytes, credits)
    if #bytes ~= 54 then return false end
    local version
    version, of.open, of.reported, of.units, of.first, of.last, of.sequence, of.latest, of.latest_nths, of.epoch =
      unpack_bytes('<I1I2I2I7I7I7I7I7I7I7', bytes)
    of.credits, of.had_credits, of.expires_at = credits or '', credits, of.last
    return version == VERSION and of.open <= MOST_RECEIPTS and of.reported <= MOST_RECEIPTS and of.units < EXACT and
      of.first < EXACT and of.last < EXACT and #of.credits % CREDIT == 0
  end

  -- Reads all receipts of a key. Returns false if one is invalid.
  local function read_all(of, fields)
    for i = 1, #fields, 2 do
      local name = fields[i]
      if #name == NAME and of.records[name] == nil and not read_record(of, name, fields[i + 1]) then return false end
    end
    of.all = true
    return true
  end

  -- The order was lost without the receipts, or is incomplete: the totals are computed again, and the order is written
  -- again.
  local function recount(of)
    of.open, of.reported, of.units, of.first = 0, 0, 0, EXACT - 1
    for _, record in pairs(of.records) do
      if record.cost then
        of.open, of.units = of.open + 1, of.units + record.cost
      else
        of.reported = of.reported + 1
      end
      if record.ends < of.first then of.first = record.ends end
    end
    of.is_disordered, of.expires_at = true, nil
  end

  -- Reads what the batch names of the receipts of a key. Returns false if it is not ours, or an error.
  local function read(of, names, wants_all)
    local card = redis.pcall('ZCARD', of.order)
    if type(card) == 'table' then return false, card end
    local fields, bytes, credits
    if not wants_all then
      for from = 1, #names, 1000 do
        fields = redis.pcall('HMGET', of.hash, unpack(names, from, from + 999 < #names and from + 999 or #names))
        if fields.err then return false, fields end
        if from == 1 then
          bytes, credits = fields[1], fields[2]
          if not bytes then
            of.is_stale = card > 0
            return call('EXISTS', of.hash) == 0
          end
          if not read_totals(of, bytes, credits) then return false end
        end
        for i = from == 1 and 3 or 1, #fields do
          local name = names[from + i - 1]
          if fields[i] and not of.records[name] and not read_record(of, name, fields[i]) then return false end
        end
      end
      if card == of.open + of.reported then
        of.read = bytes
        return true
      end
    end
    fields = redis.pcall('HGETALL', of.hash)
    if fields.err then return false, fields end
    for i = 1, #fields, 2 do
      if fields[i] == 't' then bytes = fields[i + 1] end
      if fields[i] == 'c' then credits = fields[i + 1] end
    end
    if not bytes then
      of.is_stale = card > 0
      return #fields == 0
    end
    if not read_totals(of, bytes, credits) or not read_all(of, fields) then return false end
    if card ~= of.open + of.reported then recount(of) end
    of.read = pack_totals(of)
    return true
  end

  receipts = {}
  local names = {}
  for i = named[1] + 2, #named do
    local key = named[i]
    names[key] = names[key] or {'t', 'c'}
    table.insert(names[key], name_at(i - named[1] - 1))
  end
  for i = 2, named[1] + 1 do
    local key, wants_all = named[i], false
    if key < 0 then key, wants_all = -key, true end
    local term = key > buckets and input[5 + key - buckets]
    local of = fresh(key, term and term > 0 and input[term] == HOLDS)
    receipts[key] = of
    if term ~= 0 then
      local is_ours, problem = read(of, names[key] or {'t', 'c'}, wants_all)
      if not is_ours then
        if problem and not string.find(problem.err, 'WRONGTYPE', 1, true) then return problem end
        return fail(key, of.is_holds and '' or ':r')
      end
      for name, record in pairs(of.records) do tell(of, name, record) end
    end
  end

  -- Call when a receipt was removed.
  forget_bounds = function(of)
    if of.open + of.reported > 0 then return end
    of.units, of.first, of.last, of.latest, of.latest_nths, of.credits = 0, EXACT - 1, 0, 0, 0, ''
  end

  forget_receipts = function(of)
    of.open, of.reported, of.records, of.was, of.touched = 0, 0, {}, {}, {}
    of.dirty, of.is_forgotten, of.is_disordered, of.expires_at, of.had_credits = true, true, nil, nil, nil
    forget_bounds(of)
  end

  -- Removes expired receipts. A look does not write that.
  local function prune(of, is_kept)
    if of.open + of.reported > 0 and now >= of.first then
      local expired = {}
      if of.all then
        of.first = EXACT - 1
        for name, record in pairs(of.records) do
          if record and record.ends <= now then
            expired[name] = record
          elseif record and record.ends < of.first then
            of.first = record.ends
          end
        end
      else
        local found = call('ZRANGEBYSCORE', of.order, '-inf', format('%d', now), 'WITHSCORES')
        for at = 1, #found, 2 do
          local name = string.sub(found[at], 1, NAME)
          local record = of.records[name]
          if not record then
            record = {ends = tonumber(found[at + 1]), at = 0, nths = 0, sequence = 0}
            if #found[at] > NAME then record.cost = (unpack_bytes('<I7', found[at], NAME + 1)) end
            of.was[name] = {member = found[at], ends = record.ends}
            tell(of, name, record)
          end
          expired[name] = record
        end
        local next_one = call('ZRANGE', of.order, #found / 2, #found / 2, 'WITHSCORES')
        of.first = next_one[2] and tonumber(next_one[2]) or EXACT - 1
      end
      for name, record in pairs(expired) do
        of.records[name], of.touched[name], of.has_expired = false, true, true
        if record.cost then
          of.open, of.units = of.open - 1, of.units - record.cost
          of.gone, of.gone_units = of.gone + 1, of.gone_units + record.cost
        else
          of.reported = of.reported - 1
        end
      end
      forget_bounds(of)
    end
    if is_kept and of.has_expired then of.dirty = true end
  end

  -- The receipts of a key without expired ones; nil if the batch does not name them.
  receipts_of = function(key, is_kept)
    local of = receipts[key]
    if of then prune(of, is_kept) end
    return of
  end
end
