-- Asks Weir whether a request may pass. For HAProxy 2.6 or later:
--   setenv WEIR_ADDRESS ADDRESS:PORT
--   setenv WEIR_AWAY deny          if requests shall not pass while Weir is away
--   setenv WEIR_TOKEN TOKEN        if listeners.http.token_file is set
--   lua-load-per-thread weir.lua
--   http-request lua.weir if { nbsrv(weir) gt 0 }   ends a request that is denied, with Weir's answer
--   http-response lua.weir_fields  adds what Weir says of the limit to the answer of one that passes
--   filter lua.weir_release        if the policy has a limit with `algorithm: concurrency`: ends what a request holds
--
-- A request that Weir gives no answer to, or one of 5xx, passes; beside these only a 200 lets one pass. HAProxy 2.6
-- tries to connect for three seconds. So that requests need not wait for that, its health checks of the backend `weir`
-- say, to all threads alike, whether Weir is there to be asked.

local url, token = "http://" .. os.getenv("WEIR_ADDRESS"), os.getenv("WEIR_TOKEN")

local passes_unjudged = os.getenv("WEIR_AWAY") ~= "deny"
local patience = 6000 -- ms; above listeners.http.hold_max, 5s, by which an answer may wait its turn

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

core.register_action("weir", { "http-req" }, function(txn)
  local answer = core.httpclient():get({ url = url .. "/v1/auth", headers = question(txn), timeout = patience })
  local status = answer.status
  if status == 200 then
    txn:set_priv(fields_of(answer))
    local receipt = answer.headers["x-weir-receipt"]
    if receipt then txn:set_var("txn.weir_receipt", receipt[0]) end
  elseif not status or status < 100 or status >= 500 then
    txn:Warning("weir: no answer")
    if not passes_unjudged then txn:done(txn:reply({ status = 503 })) end
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
  local answer = core.httpclient():post({ url = url .. "/v1/release", headers = headers, body = body, timeout = patience })
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
