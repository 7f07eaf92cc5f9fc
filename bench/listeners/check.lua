-- A program that asks about one of 100,000 users each time.
math.randomseed(7)
local headers = { ["Content-Type"] = "application/json" }
request = function()
  local body = '{"method":"GET","path":"/api/v1/items/42","ip":"203.0.113.7","user":"user-' .. math.random(100000) .. '"}'
  return wrk.format("POST", "/v1/check", headers, body)
end
