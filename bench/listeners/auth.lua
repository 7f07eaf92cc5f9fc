-- A proxy that asks about one of 100,000 users each time.
math.randomseed(7)
local headers = { ["X-Original-Method"] = "GET", ["X-Original-URI"] = "/api/v1/items/42?page=3" }
request = function()
  headers["X-User-Id"] = "user-" .. math.random(100000)
  return wrk.format("GET", "/v1/auth", headers)
end
