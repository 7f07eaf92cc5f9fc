-- Asks Weir whether a request may pass. For HAProxy 2.6 or later:
--   setenv WEIR_URL http://ADDRESS:PORT
--   setenv WEIR_TOKEN TOKEN        if doors.http.token_file is set
--   lua-load-per-thread weir.lua
--   http-request lua.weir          ends a request that is denied, with Weir's answer
--   http-response lua.weir_fields  adds what Weir says of the limit to the answer of one that passes
--
-- If Weir is away, requests pass. HAProxy tries to connect for some seconds before it says so; it is not made to again
-- for `pause`, in which requests pass at once.

local url, token = os.getenv("WEIR_URL"), os.getenv("WEIR_TOKEN")

local patience = 6000 -- ms; above doors.http.hold_max, 5s, by which an answer may wait its turn
local pause = 5 -- s
local away_until = 0

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

local function ask(txn)
  if core.now().sec < away_until then return nil end
  local answer = core.httpclient():get({ url = url .. "/v1/auth", headers = question(txn), timeout = patience })
  if answer.status and answer.status >= 100 and answer.status < 500 then return answer end
  txn:Warning("weir: no answer; requests pass")
  away_until = core.now().sec + pause
  return nil
end

core.register_action("weir", { "http-req" }, function(txn)
  local answer = ask(txn)
  if not answer then return end
  if answer.status == 200 then
    txn:set_priv(fields_of(answer))
  elseif answer.status == 429 then
    txn:done(txn:reply({
      status = 429, reason = "Too Many Requests", headers = fields_of(answer), body = answer.body,
    }))
  else -- a token is missing, or this is more than Weir reads: nobody should pass by that
    txn:Warning("weir: refused to answer, with status " .. answer.status)
    txn:done(txn:reply({ status = 500 }))
  end
end)

core.register_action("weir_fields", { "http-res" }, function(txn)
  for name, values in pairs(txn:get_priv() or {}) do txn.http:res_set_header(name, values[1]) end
end)
