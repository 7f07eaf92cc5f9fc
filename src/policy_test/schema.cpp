// The JSON Schema of test files. A test compares its properties with the reader's.
#include "policy_test/test_file.h"

namespace weir::policy_test {

// NOLINTNEXTLINE(readability-function-size): one literal, which reads best as a whole.
std::string test_schema() {
  return R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://weir.example/schema/policy-test-1.json",
  "title": "Weir policy tests",
  "description": "Scenarios on virtual time and bounds for a policy. `weir test` runs them.",
  "$defs": {
    "name": { "type": ["string", "number", "boolean"], "pattern": "^[A-Za-z0-9._-]+$", "maxLength": 128 },
    "names": { "anyOf": [{ "$ref": "#/$defs/name" }, { "type": "array", "items": { "$ref": "#/$defs/name" } }] },
    "time": { "type": ["string", "integer"], "pattern": "^(0|0s|[1-9][0-9]*(us|ms|s|sec|min|m|h|day))$", "examples": ["0s", "500ms", "1min"] },
    "text": { "type": ["string", "number", "boolean"] },
    "request_line": { "description": "Method and path; without a method, GET. `{n}` is the number of the repetition.", "type": "string", "examples": ["POST /login"] },
    "ip": { "description": "The address that sends the request to Weir. Default: 127.0.0.1, a trusted proxy unless the policy says otherwise.", "type": "string" },
    "user": { "description": "The user that the calling program sends.", "$ref": "#/$defs/text" },
    "api_key": { "description": "The API key that the calling program sends.", "$ref": "#/$defs/text" },
    "tier": { "description": "The tier that the calling program sends.", "$ref": "#/$defs/name" },
    "cost": { "description": "The cost, for limits that set none.", "type": "integer", "minimum": 0 },
    "max_wait": { "description": "How long the caller can wait for its turn in a queue.", "$ref": "#/$defs/time" },
    "headers": { "description": "Header fields of the request.", "type": "object", "additionalProperties": { "$ref": "#/$defs/text" } },
    "expect": {
      "anyOf": [
        { "enum": ["admitted", "denied"] },
        {
          "type": "object", "additionalProperties": false, "properties": {
            "verdict": { "description": "The verdict on every repetition.", "enum": ["admitted", "denied"] },
            "admitted": { "description": "How many repetitions are admitted.", "type": "integer", "minimum": 0 },
            "denied": { "description": "How many repetitions are denied.", "type": "integer", "minimum": 0 },
            "denied_by": { "description": "The limit that decides every denial.", "$ref": "#/$defs/name" },
            "limit": { "description": "The limit that the header fields describe.", "$ref": "#/$defs/name" },
            "reason": { "enum": ["uncovered", "shadow", "exempt", "within", "warned", "exceeded", "blocked", "key_missing", "banned", "too_many_limits", "reserve_too_large", "needs_receipt", "store_unavailable"] },
            "status": { "type": "integer", "minimum": 100, "maximum": 599 },
            "retry_after": { "description": "The exact wait, or never.", "anyOf": [{ "$ref": "#/$defs/time" }, { "const": "never" }] },
            "remaining": { "description": "What remains of the deciding limit.", "type": "integer", "minimum": 0 },
            "delay": { "description": "The wait of an admitted request in a queue.", "$ref": "#/$defs/time" },
            "covered_by": { "description": "All enforced limits that cover the request; [] for none.", "$ref": "#/$defs/names" },
            "would_deny": { "description": "All shadow limits and candidates that would deny the request; [] for none.", "$ref": "#/$defs/names" },
            "headers": { "description": "Header fields of the answer; `absent` for a field that it must not have.", "type": "object", "additionalProperties": { "type": ["string", "number", "boolean", "null"] } },
            "result": { "description": "The result of settle, release or extend.", "enum": ["unanswered", "done", "repeated", "id_not_recorded", "ended", "unknown"] }
          }
        }
      ]
    }
  },
  "type": "object", "required": ["version"], "additionalProperties": false, "properties": {
    "version": { "const": 1, "description": "The version of the test language." },
    "policy": { "description": "The policies to test, relative to this file. Default: NAME.yaml for NAME.test.yaml.", "anyOf": [{ "type": "string" }, { "type": "array", "minItems": 1, "items": { "type": "string" } }] },
    "nodes": { "description": "How many nodes share the store, for outages and approximate limits. Default: 2.", "type": "integer", "minimum": 1, "maximum": 4096 },
    "tests": { "type": "array", "minItems": 1, "items": {
      "type": "object", "required": ["name", "steps"], "additionalProperties": false, "properties": {
        "name": { "type": "string" },
        "start": { "description": "The time of the start. Default: 2026-01-05T00:00:00Z, a Monday.", "type": "string", "examples": ["2026-01-31T23:59:00Z"] },
        "ip": { "$ref": "#/$defs/ip" }, "user": { "$ref": "#/$defs/user" }, "api_key": { "$ref": "#/$defs/api_key" },
        "tier": { "$ref": "#/$defs/tier" }, "cost": { "$ref": "#/$defs/cost" }, "max_wait": { "$ref": "#/$defs/max_wait" },
        "headers": { "$ref": "#/$defs/headers" },
        "steps": { "type": "array", "minItems": 1, "items": {
          "type": "object", "additionalProperties": false,
          "oneOf": [{ "required": ["request"] }, { "required": ["reserve"] }, { "required": ["report"] }, { "required": ["settle"] }, { "required": ["release"] }, { "required": ["extend"] }, { "required": ["store"] }],
          "properties": {
            "at": { "description": "The time since the start.", "$ref": "#/$defs/time" },
            "after": { "description": "The time since the previous step.", "$ref": "#/$defs/time" },
            "request": { "$ref": "#/$defs/request_line" },
            "reserve": { "$ref": "#/$defs/request_line" },
            "report": { "$ref": "#/$defs/request_line" },
            "settle": { "description": "The receipt to settle.", "$ref": "#/$defs/name" },
            "release": { "description": "The receipt to release.", "$ref": "#/$defs/name" },
            "extend": { "description": "The receipt to extend.", "$ref": "#/$defs/name" },
            "store": { "description": "Makes the shared store fail or answer.", "enum": ["available", "unavailable"] },
            "as": { "description": "The name of the receipt of a reserve.", "$ref": "#/$defs/name" },
            "actual": { "description": "The cost to settle.", "type": "integer", "minimum": 0 },
            "times": { "type": "integer", "minimum": 1, "maximum": 1000000 },
            "every": { "description": "The time between repetitions. Default: 0s.", "$ref": "#/$defs/time" },
            "ip": { "$ref": "#/$defs/ip" }, "user": { "$ref": "#/$defs/user" }, "api_key": { "$ref": "#/$defs/api_key" },
            "tier": { "$ref": "#/$defs/tier" }, "cost": { "$ref": "#/$defs/cost" }, "max_wait": { "$ref": "#/$defs/max_wait" },
            "headers": { "$ref": "#/$defs/headers" },
            "expect": { "$ref": "#/$defs/expect" }
          }
        } }
      }
    } },
    "bounds": { "type": "array", "minItems": 1, "items": {
      "type": "object", "required": ["at_most"], "additionalProperties": false, "properties": {
        "at_most": { "description": "N per SPAN [for METHOD PATH] by WHOM [in tier NAME].", "type": "string", "examples": ["20 per 1min for POST /login by one ip", "5 at once by one user"] },
        "cost": { "description": "The cost of each request, for limits that set none. Default: 1.", "type": "integer", "minimum": 1 }
      }
    } }
  }
}
)";
}

}  // namespace weir::policy_test
