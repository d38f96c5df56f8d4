-- For wrk: appends the first segment of a new replica with each request, to one of some spaces.
--
-- Arguments: the bytes of the body, then a space and a token for each space, as hexadecimal digits.

local spaces, body_length = {}, 0

local function bytes(digits)
  return (digits:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

local function random(count)
  local values = {}
  for index = 1, count do values[index] = string.char(math.random(0, 255)) end
  return table.concat(values)
end

local function big_endian(number)
  return string.char(math.floor(number / 65536 / 256) % 256, math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256)
end

function init(arguments)
  math.randomseed(os.time() * 1000 + tonumber(tostring({}):match("0x%x*(%x%x%x%x%x%x)"), 16))
  body_length = tonumber(arguments[1])
  for index = 2, #arguments, 2 do
    local headers = { ["Authorization"] = "Bearer " .. arguments[index + 1] }
    table.insert(spaces, { id = arguments[index], bytes = bytes(arguments[index]), headers = headers })
  end
  -- Random bytes are slow to make: all segments share them, and their replicas differ.
  filler = random(body_length + 64)
end

function request()
  local space, replica = spaces[math.random(#spaces)], random(16)
  local digits = replica:gsub(".", function(byte) return string.format("%02x", byte:byte()) end)
  local head = "TLYS\1\1\1\0" .. space.bytes .. replica .. big_endian(1) .. big_endian(0) .. big_endian(1)
  local segment = head .. string.rep("\0", 32) .. filler:sub(1, 32) .. big_endian(body_length) .. filler
  return wrk.format("POST", "/v1/spaces/" .. space.id .. "/replicas/" .. digits .. "/segments", space.headers, segment)
end
