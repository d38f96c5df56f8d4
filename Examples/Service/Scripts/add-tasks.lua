-- For wrk: adds tasks with unique texts, and notes each one whose addition has been acknowledged.

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(arguments)
  acknowledged = assert(io.open(arguments[1] .. "/acknowledged-" .. number, "a"))
  count = 0
end

function request()
  count = count + 1
  return wrk.format("POST", "/tasks", nil, string.format('{"text":"Task %d of thread %d"}', count, number))
end

function response(status, headers, body)
  if status ~= 201 then return end
  acknowledged:write(body:match('"id":"([^"]*)"'), " ", body:match('"text":"([^"]*)"'), "\n")
  acknowledged:flush()
end
