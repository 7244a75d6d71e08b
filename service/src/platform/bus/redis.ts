import type { RedisLink } from '../cluster/redis-link.ts'
import type { Wire } from './port.ts'

const PREFIX = 'parley:bus:'
/** A publish that takes longer is a Redis that hangs. */
const SEND_TIMEOUT_MS = 1_000

/** A wire over the channels of Redis, between all nodes that have the same one. */
export function redisWire(link: RedisLink): Wire {
  return {
    reachesOthers: true,
    send: (channel, text) => link.run((redis) => redis.publish(PREFIX + channel, text), SEND_TIMEOUT_MS, 'message'),
    listen: (channel, listener) => link.listen(PREFIX + channel, listener),
  }
}
