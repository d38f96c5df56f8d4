-- For wrk: appends the first segment of a new replica with each request, to one of some spaces.
--
-- It builds requests itself, as wrk.format would cost as much again as all of the rest: client and hub share the processors.
--
-- Arguments: the bytes of the body, then a space and a token for each space, as hexadecimal digits.

local random, format = math.random, string.format
local spaces, rest = {}, ""

local function bytes(digits)
  return (digits:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

local function big_endian(number)
  return string.char(math.floor(number / 16777216) % 256, math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256)
end

local function word() return random(0, 4294967295) end

function init(arguments)
  math.randomseed(os.time() * 1000 + tonumber(tostring({}):match("0x%x*(%x%x%x%x%x%x)"), 16))
  local body_length = tonumber(arguments[1])
  local values = {}
  for index = 1, body_length + 96 do values[index] = string.char(random(0, 255)) end
  -- Random bytes are slow to make: all segments share them, and their replicas differ.
  local filler = table.concat(values)
  rest = big_endian(1) .. big_endian(0) .. big_endian(1) .. string.rep("\0", 32) .. filler:sub(1, 32) .. big_endian(body_length)
    .. filler:sub(33)
  local length = 40 + #rest
  for index = 2, #arguments, 2 do
    local id, token = arguments[index], arguments[index + 1]
    table.insert(spaces, {
      start = "POST /v1/spaces/" .. id .. "/replicas/",
      middle = "/segments HTTP/1.1\r\nHost: " .. wrk.host .. "\r\nAuthorization: Bearer " .. token .. "\r\nContent-Length: " .. length
        .. "\r\n\r\nTLYS\1\1\1\0" .. bytes(id),
    })
  end
end

function request()
  local space = spaces[random(#spaces)]
  local a, b, c, d = word(), word(), word(), word()
  return space.start .. format("%08x%08x%08x%08x", a, b, c, d) .. space.middle
    .. big_endian(a) .. big_endian(b) .. big_endian(c) .. big_endian(d) .. rest
end
