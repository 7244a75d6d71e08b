import type { Redis } from 'ioredis'
import { WINDOW_SECONDS } from './rate-counter.ts'

const PREFIX = 'parley:rate:'

/**
 * The same count by whole seconds as `RateWindows`, in one step for all nodes, by the clock of Redis. Answers whether it was let
 * in, how many count now, and the second at which there is room again.
 */
const TAKE = `
local now = tonumber(redis.call('TIME')[1])
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local fields = redis.call('HGETALL', KEYS[1])
local counts, seconds, total = {}, {}, 0
for i = 1, #fields, 2 do
  local at = tonumber(fields[i])
  if at < now - window then
    redis.call('HDEL', KEYS[1], fields[i])
  else
    counts[at] = tonumber(fields[i + 1])
    seconds[#seconds + 1] = at
    total = total + counts[at]
  end
end
local admitted = 0
if total < limit then
  admitted = 1
  total = total + 1
  if not counts[now] then seconds[#seconds + 1] = now end
  counts[now] = (counts[now] or 0) + 1
  redis.call('HSET', KEYS[1], now, counts[now])
  redis.call('EXPIRE', KEYS[1], window + 1)
end
table.sort(seconds)
local gone, reset = 0, window + 1
for _, at in ipairs(seconds) do
  gone = gone + counts[at]
  if gone > total - limit then reset = at + window + 1 - now break end
end
return {admitted, total, reset}`

/** Answers as the script does. */
export function takeFrom(redis: Redis, name: string, limit: number): Promise<unknown> {
  return redis.eval(TAKE, 1, PREFIX + name, limit, WINDOW_SECONDS)
}
