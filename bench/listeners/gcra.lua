-- The baseline: GCRA on one key, one evaluation per request. KEYS[1], ARGV: burst, count, period in seconds.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local token = ARGV[3] * 1000000 / ARGV[2]
local capacity = token * (ARGV[1] + 1)
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local new = arrival + token
local limited = 0
if new - now > capacity then
  limited = 1
  new = arrival
else
  redis.call('SET', KEYS[1], string.format('%.0f', new), 'PX', math.ceil((new - now) / 1000))
end
local retry = -1
if limited == 1 then retry = math.ceil((new + token - now - capacity) / 1000000) end
return {limited, ARGV[1] + 1, math.floor((capacity - (new - now)) / token), retry, math.ceil((new - now) / 1000000)}
