import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useRedis } from '../../../test/harness/redis.ts'
import { until } from '../../../test/harness/wait.ts'
import { systemClock } from '../../kernel/clock.ts'
import { makeLog } from '../log.ts'
import { openRedis, type RedisLink } from './redis-link.ts'
import { takeInRedis } from './redis-rate-counter.ts'

const server = useRedis()
const links: RedisLink[] = []
let redis: Redis

beforeAll(async () => {
  const log = makeLog({ level: 'silent', secrets: [] })
  for (let n = 0; n < 4; n += 1) links.push(await openRedis({ url: server.url, clock: systemClock, log }))
  redis = new Redis(server.url)
  await until(() => links.every(({ isUp }) => isUp), { what: 'Redis' })
})
afterAll(() => {
  for (const link of links) link.close()
  redis.disconnect()
})
beforeEach(() => redis.flushall())

const take = (name: string, limit: number, n = 0) => takeInRedis(links[n % 4] as RedisLink, name, limit)

/** What was let in so many seconds ago, by the clock of Redis. */
async function happened(name: string, counts: Record<number, number>): Promise<void> {
  const [now] = await redis.time()
  for (const [ago, count] of Object.entries(counts))
    await redis.hset(`parley:rate:${name}`, Number(now) - Number(ago), count)
}

describe('takeInRedis', () => {
  it('lets in exactly the limit over four nodes at once', async () => {
    const taken = await Promise.all(Array.from({ length: 400 }, (_, n) => take('a', 60, n)))
    expect(taken.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(60)
    for (const { resetSeconds } of taken) expect(resetSeconds).toBeGreaterThan(55)
    expect(Math.min(...taken.map(({ remaining }) => remaining))).toBe(0)
    expect((await take('b', 60)).remaining).toBe(59)
  })

  it('tells nobody to wait for longer than a minute, whatever the count says of times to come', async () => {
    await happened('a', { [-3_600]: 60 })
    expect(await take('a', 60)).toMatchObject({ isAdmitted: false, remaining: 0, resetSeconds: 61 })
  })

  it.each([
    ['another type', (key: string) => redis.set(key, 'x')],
    ['another form', (key: string) => redis.hset(key, 'x', 'y')],
  ])('is unavailable, and no fault, where a count has %s', async (_what, spoil) => {
    await spoil('parley:rate:a')
    await expect(take('a', 60)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('counts the last minute, and forgets what is before it', async () => {
    await happened('a', { 200: 50, 70: 50, 30: 3, 10: 4 })
    expect(await take('a', 10)).toMatchObject({ isAdmitted: true, remaining: 2 })
    expect(Object.keys(await redis.hgetall('parley:rate:a')).length).toBeLessThanOrEqual(3)
    expect(await redis.ttl('parley:rate:a')).toBeLessThanOrEqual(61)
  })

  it('says when there is room again: when enough of them have left the minute', async () => {
    await happened('a', { 50: 3, 20: 4 })
    const [full, lowered] = [await take('a', 7), await take('a', 4)]
    expect([full.isAdmitted, lowered.isAdmitted]).toEqual([false, false])
    expect([10, 11]).toContain(full.resetSeconds)
    expect([40, 41]).toContain(lowered.resetSeconds)
  })
})
