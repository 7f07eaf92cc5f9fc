-- Asks Weir whether a request may pass. For HAProxy 2.6 or later:
--   setenv WEIR_ADDRESS ADDRESS:PORT
--   setenv WEIR_AWAY deny          if requests shall not pass while Weir is away
--   setenv WEIR_TOKEN TOKEN        if listeners.http.token_file is set
--   lua-load-per-thread weir.lua
--   http-request lua.weir if { nbsrv(weir) gt 0 }   ends a request that is denied, with Weir's answer
--   http-response lua.weir_fields  adds what Weir says of the limit to the answer of one that passes
--   filter lua.weir_release        if the policy has a limit with `algorithm: concurrency`: ends what a request holds
--
-- Only a 200 lets a request pass, and the health checks of the backend `weir`: while they say that Weir is unavailable, it
-- is not asked. A request without an answer waits a second for their word, and gets a 503 if Weir is well: then it is
-- HAProxy that has no time or no descriptors left, and that must not open the gate.

local url, token = "http://" .. os.getenv("WEIR_ADDRESS"), os.getenv("WEIR_TOKEN")

local passes_unevaluated = os.getenv("WEIR_AWAY") ~= "deny"
local timeout = 500 -- ms, for each of HAProxy's four tries; with a queue in the policy 6000, above max_delay of the listener

local passed_on = {
  "ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset",
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-warning",
  "retry-after", "content-type",
}

-- Weir is told these and nothing else, so that clients cannot tell it anything.
local function question(txn)
  local headers = {
    ["host"] = { "localhost" },
    ["x-original-method"] = { txn.sf:method() },
    ["x-original-uri"] = { txn.sf:pathq() },
    ["x-forwarded-for"] = { txn.sf:src() },
  }
  local api_key = txn.sf:req_fhdr("x-api-key")
  if api_key ~= "" then headers["x-api-key"] = { api_key } end
  if token then headers["x-weir-token"] = { token } end
  return headers
end

-- Lists of values, by name.
local function fields_of(answer)
  local fields = {}
  for _, name in ipairs(passed_on) do
    local values = answer.headers[name]
    if values then fields[name] = { values[0] } end
  end
  return fields
end

-- What Weir refuses for what the client sent; all else that it refuses, a missing token say, is not the client's doing.
local denials = {
  [400] = true, [403] = true, [408] = true, [413] = true, [414] = true, [415] = true, [429] = true, [431] = true,
}

-- Questions at a time, on this thread. Each takes a descriptor, of which HAProxy has two for each of its connections
-- (`maxconn`): on all threads together they take a fourth of `maxconn`, so that some are free for all else.
local asked, max_asked = 0

-- The answer; none if there was no room for the question in time.
local function ask(txn)
  if not max_asked then
    local info = core.get_info()
    max_asked = math.max(1, tonumber(info.Maxconn) // 4 // tonumber(info.Nbthread))
  end
  local waited = 0
  while asked >= max_asked do
    if waited >= timeout then return {} end
    core.msleep(20)
    waited = waited + 20
  end
  asked = asked + 1
  local answer = core.httpclient():get({ url = url .. "/v1/auth", headers = question(txn), timeout = timeout })
  asked = asked - 1
  return answer
end

local function is_unavailable(txn)
  for _ = 1, 20 do
    if tonumber(txn.f:nbsrv("weir")) == 0 then return true end
    core.msleep(50)
  end
  return false
end

core.register_action("weir", { "http-req" }, function(txn)
  local answer = ask(txn)
  local status = answer.status
  if status == 200 then
    txn:set_priv(fields_of(answer))
    local receipt = answer.headers["x-weir-receipt"]
    if receipt then txn:set_var("txn.weir_receipt", receipt[0]) end
  elseif not status or status < 100 or status >= 500 then
    txn:Warning("weir: no answer")
    if not (is_unavailable(txn) and passes_unevaluated) then txn:done(txn:reply({ status = 503 })) end
  elseif denials[status] then
    txn:done(txn:reply({ status = status, headers = fields_of(answer), body = answer.body }))
  else
    txn:Warning("weir: refused to answer, with status " .. status)
    txn:done(txn:reply({ status = 500 }))
  end
end)

core.register_action("weir_fields", { "http-res" }, function(txn)
  for name, values in pairs(txn:get_priv() or {}) do txn.http:res_set_header(name, values[1]) end
end)

-- At the end of a request, whatever that is, the client going away included. A filter cannot wait for an answer, so it
-- leaves that to a task.
local function release(receipt)
  local headers = { ["host"] = { "localhost" }, ["content-type"] = { "application/json" } }
  if token then headers["x-weir-token"] = { token } end
  local body = '{"receipt":"' .. receipt .. '"}'
  local answer = core.httpclient():post({ url = url .. "/v1/release", headers = headers, body = body, timeout = timeout })
  if answer.status ~= 200 then core.Warning("weir: a hold was not released, and ends with its lease") end
end

local Release = { id = "weir_release", flags = filter.FLT_CFG_FL_HTX }
Release.__index = Release

function Release:new()
  return setmetatable({}, Release)
end

function Release:end_analyze(txn, channel)
  if not channel:is_resp() then return end
  local receipt = txn:get_var("txn.weir_receipt")
  if receipt then core.register_task(function() release(receipt) end) end
end

core.register_filter("weir_release", Release, function(self) return self end)
