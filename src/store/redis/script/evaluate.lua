local fill_without_leased

if leases or needs > 1 then
  -- A bucket's fill less the worth of its leased units.
  fill_without_leased = function(key, term)
    lease_terms[key] = term
    local N, burst, units = input[term + 2], input[term + 11], leases[key][OUT]
    if units > burst then units = burst end
    local nths = units * input[term + 10]  -- at most burst x N, and so below 2^53
    local fill, fill_nths = input[term + 3] - units * input[term + 9] - floor(nths / N), input[term + 4] - nths % N
    if fill_nths < 0 then return fill - 1, fill_nths + N end
    return fill, fill_nths
  end
end

local admitted, evaluation = {}, 0
local at, last = input[3], #input
while at < last do
  local operation = input[at]
  evaluation = evaluation + 1
  if may_expire and operation <= DECIDE_ALIKE and leases[input[at + operation]] then
    -- In both short forms, input[at + operation] is the key.
    local copies = operation == DECIDE_ALIKE and input[at + 1] or 1
    admitted[evaluation] = decide(DECIDE, copies, at + operation, at + operation)
    at = at + operation + 2
  elseif operation == DECIDE_ONE then
    -- The same as fits and charge, inlined for a bucket and a cost that is not 0.
    local key, term = input[at + 1], input[at + 2]
    local N = input[term + 2]
    local used, nths = first[key] - now, second[key]
    if nths >= N then used, nths = used + 1, 0 end
    if used < 0 then used, nths = 0, 0 end
    local after, after_nths = used + input[term + 7], input[term + 8]
    if nths > 0 then
      -- The sum nths + after_nths could exceed 2^53, so it is not computed.
      if nths >= N - after_nths then
        after, after_nths = after + 1, nths - (N - after_nths)
      else
        after_nths = nths + after_nths
      end
    end
    local fill, fill_nths = input[term + 3], input[term + 4]
    if leases and leases[key] then fill, fill_nths = fill_without_leased(key, term) end
    if after < fill or (after == fill and after_nths <= fill_nths) then
      first[key], second[key] = now + after, after_nths
      changed[key] = true
      admitted[evaluation] = 1
    else
      bring_within_reach(key, term)
      admitted[evaluation] = 0
    end
    at = at + 3
  elseif operation == DECIDE_ALIKE then
    -- The same for several copies.
    local copies, key, term = input[at + 1], input[at + 2], input[at + 3]
    local N, n = input[term + 2], input[term + 12]
    local used, nths = first[key] - now, second[key]
    if nths >= N then used, nths = used + 1, 0 end
    if used < 0 then used, nths = 0, 0 end
    local fill, fill_nths = input[term + 3], input[term + 4]
    if leases and leases[key] then fill, fill_nths = fill_without_leased(key, term) end
    local room, room_nths = fill - used, fill_nths - nths
    if room_nths < 0 then room, room_nths = room - 1, room_nths + N end
    if n > copies then n = copies end
    if room < 0 then n = 0 end
    local worth, worth_nths = input[term + 7], input[term + 8]
    n = fitting(room, room_nths, worth, worth_nths, N, n)
    if n > 0 then
      worth_nths = n * worth_nths
      used = used + n * worth + floor(worth_nths / N)
      worth_nths = worth_nths % N
      if nths >= N - worth_nths then
        used, nths = used + 1, nths - (N - worth_nths)
      else
        nths = nths + worth_nths
      end
      first[key], second[key] = now + used, nths
      changed[key] = true
    else
      bring_within_reach(key, term)
    end
    admitted[evaluation] = n
    at = at + 4
  elseif operation >= RESERVE then
    local keep, from = input[at + 1] == 1, at + 3
    at = from + 4 * input[at + 2]
    local n = 0
    if operation == RESERVE then
      n = reserve(from, at - 4, keep)
    else
      local work = operation == SETTLE_RECEIPT and settle_receipt or operation == EXTEND and extend or used
      for check = from, at - 4, 4 do
        local key, term, id = input[check], input[check + 1], input[check + 2]
        local was_changed = changed[key]
        changed[key] = nil
        local done, units = work(key, term, id > 0 and name_at(id), input[check + 3])
        n = n + done
        if changed[key] == nil then
          changed[key] = was_changed
        elseif input[term] ~= LOG then
          forget_if_over(key, term)
        end
        if logs and logs[key] then
          logs[key].settled = true
          note_waits(key, term, false)
          if operation ~= EXTEND then
            charges = charges or {}
            charges[#charges + 1] = units or 0
          end
        end
      end
    end
    admitted[evaluation] = n
  elseif operation >= REPORT then
    local holder = struct.pack('<I4I4', input[at + 3], input[at + 4])
    if operation == REPORT then
      admitted[evaluation] = report(input[at + 1], input[at + 2], holder, input[at + 5], input[at + 6], input[at + 7],
        input[at + 8], input[at + 9], input[at + 10])
      at = at + 11
    else
      admitted[evaluation] = grant(input[at + 1], input[at + 2], holder, input[at + 5], input[at + 6], input[at + 7],
        input[at + 8], input[at + 9])
      at = at + 10
    end
  else
    local copies = input[at + 1]
    local from = at + 3
    at = from + 2 * input[at + 2]
    local n = copies
    if operation <= LOOK then
      n = decide(operation, copies, from, at - 2)
    elseif operation <= LOOK_IN_STEPS then
      n = decide_in_steps(from, at - 2, operation == DECIDE_IN_STEPS, 2)
    elseif operation == SETTLE then
      settle(input[from], input[from + 1])
    else
      forget(from, at - 2)
    end
    admitted[evaluation] = n
  end
end

if plain < keys then
  -- A log as returned to the node: as it was read or, if it was settled, as it is now.
  local function told(key, log)
    local used, newest = first[key], log.newest
    local costs = {}
    if used > 0 then log.waits[1] = true end
    for cost in pairs(log.waits) do
      if cost <= used then costs[#costs + 1] = cost end
    end
    table.sort(costs)
    if log.settled and second[key] > 0 then
      used = used + second[key]
      if newest < now then newest = now end
    end
    if used == 0 then return false end
    local answer = {used, newest}
    for i = 1, #costs do
      answer[2 * i + 1], answer[2 * i + 2] = costs[i], first_reaching(log, costs[i])
    end
    return answer
  end

  for key = plain + 1, keys do
    if logs[key] then states[key] = told(key, logs[key]) end
  end
end
