-- Asks Weir about each request. For HAProxy 2.6 or later:
--   setenv WEIR_ADDRESS ADDRESS:PORT
--   setenv WEIR_UNAVAILABLE deny   denies requests while Weir is unavailable; default: pass
--   setenv WEIR_TOKEN TOKEN        if listeners.http.token_file is set
--   lua-load-per-thread weir.lua
--   http-request lua.weir if { nbsrv(weir) gt 0 }   ends a denied request with Weir's response
--   http-response lua.weir_fields  adds the rate limit fields to admitted responses
--   filter lua.weir_release        releases holds, if the policy has `algorithm: concurrency`
--
-- A request passes only with a 200, or while the health checks of the backend `weir` fail: then Weir is not asked. A
-- request without a response waits a second for the health checks, and gets a 503 if they succeed: then HAProxy itself
-- is out of time or file descriptors, which must not let requests bypass Weir.

local url, token = "http://" .. os.getenv("WEIR_ADDRESS"), os.getenv("WEIR_TOKEN")

local passes_unevaluated = os.getenv("WEIR_UNAVAILABLE") ~= "deny"
local timeout = 500 -- ms, for each of HAProxy's four tries; with a queue in the policy 6000, more than max_delay

local passed_on = {
  "ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset",
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-warning",
  "retry-after", "content-type",
}

-- Only these headers are sent to Weir, so that clients cannot forge others.
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

-- Statuses caused by the client's request. Other 4xx, such as a missing token, are configuration errors.
local denials = {
  [400] = true, [403] = true, [408] = true, [413] = true, [414] = true, [415] = true, [429] = true, [431] = true,
}

-- Maximum concurrent requests to Weir on this thread. Each takes a file descriptor, of which HAProxy has two per
-- connection (`maxconn`). All threads together use a quarter of `maxconn`, which leaves enough for the rest.
local asked, max_asked = 0

-- Returns the response, or an empty table if no slot became free in time.
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

-- Runs at the end of a request, however it ends, even if the client disconnects. A filter cannot wait for a response,
-- so a task does.
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
