-- SPDX-License-Identifier: Apache-2.0
-- Calls of the echo tool for wrk: unique ids, 16 sessions in turn, one line of JSON at the end.
-- Arguments: the era, and for the legacy one the sessions' ids.
local before, after, sessions = {}, nil, 1
local id = 100000000 -- as many digits for every call: Content-Length is a constant

local TEXT = "0123456789abcdef0123456789abcdef"
local HEAD = "POST /mcp HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\n"
    .. "Accept: application/json, text/event-stream\r\n"
local META = '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    .. '"io.modelcontextprotocol/clientCapabilities":{},'
    .. '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"}'

-- Without requests, latencies are not numbers.
local function whole(value)
    return value == value and math.floor(value) or 0
end

local function prepare(headers, meta)
    local first = '{"jsonrpc":"2.0","id":'
    after = ',"method":"tools/call","params":{"name":"echo","arguments":{"text":"' .. TEXT .. '"}' .. meta .. '}}'
    return HEAD:format(wrk.host, wrk.port) .. headers .. "Content-Length: " .. (#first + 9 + #after) .. "\r\n\r\n" .. first
end

function init(arguments)
    if arguments[1] == "2026-07-28" then
        before[1] = prepare("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
            ',"_meta":{' .. META .. "}")
        return
    end
    for i = 2, #arguments do
        before[i - 1] = prepare("MCP-Protocol-Version: " .. arguments[1] .. "\r\nMcp-Session-Id: " .. arguments[i]
            .. "\r\n", "")
    end
    sessions = #before
end

function request()
    id = id + 1
    return before[id % sessions + 1] .. id .. after
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format('{"requests":%d,"us":%d,"p50_us":%d,"p99_us":%d,"failed":%d}\n', summary.requests,
        summary.duration, whole(latency:percentile(50)), whole(latency:percentile(99)),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
