-- A program that reserves for one of 100,000 users and settles when it has the receipt, or, with the argument `check`,
-- that asks about two of them. Answers are read in both, so that the client has the same to do.
math.randomseed(7)
local headers = { ["Content-Type"] = "application/json" }
local reserves = true
local receipts, open = {}, 0

init = function(args)
  reserves = args[1] ~= "check"
end

request = function()
  if open > 0 then
    local receipt = receipts[open]
    open = open - 1
    if reserves then
      return wrk.format("POST", "/v1/settle", headers, '{"receipt":"' .. receipt .. '","actual":1}')
    end
  end
  local body = '{"method":"GET","path":"/api/v1/items/42","ip":"203.0.113.7","user":"user-' .. math.random(100000) .. '"'
  return wrk.format("POST", "/v1/check", headers, body .. (reserves and ',"cost":3,"reserve":true}' or ',"cost":3}'))
end

response = function(_, _, body)
  local found = string.match(body, reserves and '"receipt":"([%w_-]+)"' or '"route":"([^"]+)"')
  if found then
    open = open + 1
    receipts[open] = found
  end
end
