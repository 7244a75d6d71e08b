import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { RedisServer, useRedis } from '../../../test/harness/redis.ts'
import { until } from '../../../test/harness/wait.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { makeLog } from '../log.ts'
import { openRedis } from './redis-link.ts'
import { takeInRedis } from './redis-rate-counter.ts'

describe('a Redis that is reached', () => {
  const server = useRedis()

  /** A link to it, and what that has logged. */
  async function opened({ url = server.url, clock = systemClock }: { url?: string; clock?: Clock } = {}) {
    const lines: Record<string, unknown>[] = []
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) }
    const log = makeLog({ level: 'info', secrets: [], destination })
    return { link: await openRedis({ url, clock, log }), lines }
  }

  it.each([
    ['its memory is full', 'OOM', ['maxmemory', '1'], ['maxmemory', '0']],
    ['too few replicas are there', 'NOREPLICAS', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0']],
  ] as const)(
    'and refuses to write does not work, which is said once, until it writes again: %s',
    async (_why, refusal, bar, mend) => {
      const { link, lines } = await opened()
      const operator = new Redis(server.url)
      onTestFinished(() => {
        link.close()
        operator.disconnect()
      })
      await until(() => link.isUp, { what: 'Redis to be there' })
      const take = () => takeInRedis(link, 'a', 10)
      await take()
      expect(link.doesWork).toBe(true)
      await operator.config('SET', ...bar)
      for (const attempt of [take, take]) await expect(attempt()).rejects.toMatchObject({ code: 'unavailable' })
      expect([link.isUp, link.doesWork]).toEqual([true, false])
      await operator.config('SET', ...mend)
      await until(() => link.doesWork, { what: 'Redis to work again' })
      const said = lines.filter(({ msg }) => msg !== 'redis is there').map(({ msg, refusal }) => [msg, refusal])
      expect(said).toEqual([
        ['redis refuses what it is told: this node works on without', refusal],
        ['redis does again what it is told', undefined],
      ])
    },
  )

  it.each([
    ['messages', 'message', 'publish'],
    ['counts', 'write', 'eval'],
  ] as const)('works again, without being asked, once it takes %s', async (_what, kind, command) => {
    const { link, lines } = await opened()
    const operator = new Redis(server.url)
    onTestFinished(async () => {
      await operator.acl('SETUSER', 'default', `+${command}`)
      link.close()
      operator.disconnect()
    })
    await until(() => link.isUp, { what: 'Redis to be there' })
    const ask = {
      message: () => link.run((redis) => redis.publish('parley:bus:a', ''), 1_000, 'message'),
      write: () => takeInRedis(link, 'b', 10),
    }
    await operator.acl('SETUSER', 'default', `-${command}`)
    await expect(ask[kind]()).rejects.toMatchObject({ code: 'unavailable' })
    await ask[kind === 'write' ? 'message' : 'write']()
    expect(link.doesWork).toBe(false)
    await operator.acl('SETUSER', 'default', `+${command}`)
    await until(() => link.doesWork, { what: 'Redis to work again' })
    const said = lines.filter(({ msg }) => msg !== 'redis is there').map(({ kind: of, refusal }) => [of, refusal])
    expect(said).toEqual([
      [kind, 'NOPERM'],
      [kind, undefined],
    ])
  })

  it('says which command it does not know, as where that has another name', async () => {
    const renamed = new RedisServer(['--rename-command', 'EVAL', ''])
    await renamed.start()
    const { link, lines } = await opened({ url: renamed.url })
    onTestFinished(async () => {
      link.close()
      await renamed.stop()
    })
    await until(() => link.isUp, { what: 'Redis to be there' })
    await expect(takeInRedis(link, 'a', 10)).rejects.toMatchObject({ code: 'unavailable' })
    expect(lines.map(({ refusal }) => refusal)).toEqual([undefined, 'unknown command eval'])
  })

  it('says once that it has no database of the number in its address, and is there with its first one', async () => {
    const { link, lines } = await opened({ url: `${server.url}/99` })
    onTestFinished(() => link.close())
    await until(() => link.isUp, { what: 'Redis to be there' })
    await takeInRedis(link, 'a', 10)
    expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
      ['redis has no database of the number in REDIS_URL: 0 is used', expect.stringContaining('out of range')],
      ['redis is there', undefined],
    ])
  })

  /** Somebody who may do what is needed and no more, and the operator, who may give them less. */
  async function someUser(clock?: Clock) {
    const operator = new Redis(server.url)
    const [needed, counts] = [
      ['@connection', 'info', 'publish', 'subscribe'],
      ['time', 'hgetall', 'hset', 'hdel', 'expire'],
    ]
    const rights = [...needed, 'eval', ...counts].map((right) => `+${right}`)
    await operator.acl('SETUSER', 'node', 'reset', 'on', '>password', '~parley:*', '&parley:*', '-@all', ...rights)
    const url = new URL(server.url)
    Object.assign(url, { username: 'node', password: 'password' })
    const { link, lines } = await opened({ url: url.href, ...(clock && { clock }) })
    onTestFinished(async () => {
      link.close()
      await operator.config('SET', 'maxmemory', '0')
      operator.disconnect()
    })
    await until(() => link.isUp, { what: 'Redis to be there' })
    return { operator, link, lines, take: () => takeInRedis(link, 'c', 10) }
  }

  it('works again for a user who has no right that is not needed', async () => {
    const { operator, link, take } = await someUser()
    await take()
    await operator.config('SET', 'maxmemory', '1')
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
    await operator.config('SET', 'maxmemory', '0')
    await until(() => link.doesWork, { what: 'Redis to work again' })
  })

  it.each(['hset', 'expire'])(
    'does not work, which is said once, until its user may do what a count needs: %s',
    async (right) => {
      const clock = new TestClock()
      const { operator, link, lines, take } = await someUser(clock)
      /** By the time of the second answer there is one to each question before. */
      const second = async () => {
        await clock.advance(1_000)
        await link.run((redis) => redis.ping(), 1_000, 'message')
      }
      await operator.acl('SETUSER', 'node', `-${right}`)
      await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
      for (let n = 0; n < 10; n += 1) await second()
      expect(link.doesWork).toBe(false)
      await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
      await operator.acl('SETUSER', 'node', `+${right}`)
      for (let n = 0; n < 10; n += 1) await second()
      expect(link.doesWork).toBe(true)
      expect(lines.map(({ msg }) => msg)).toEqual([
        'redis is there',
        'redis refuses what it is told: this node works on without',
        'redis does again what it is told',
      ])
    },
  )

  it('says why it lets nobody in any more, once, until it does again: the loss of the connection tells nothing', async () => {
    const { operator, link, lines } = await someUser()
    await operator.acl('SETUSER', 'node', 'resetpass', '>another')
    await operator.client('KILL', 'USER', 'node')
    await until(() => lines.some(({ reason }) => String(reason).startsWith('WRONGPASS')), { what: 'the reason' })
    await operator.acl('SETUSER', 'node', 'resetpass', '>password')
    await until(() => link.isUp, { what: 'Redis to be there again' })
    const told = lines.map(({ msg, reason }) => [msg, /^[A-Z]{4,}/.exec(String(reason))?.[0]])
    expect(told).toEqual([
      ['redis is there', undefined],
      ['redis is away', undefined],
      ['redis is away', 'WRONGPASS'],
      ['redis is there', undefined],
    ])
  })

  it('says why nothing can be listened to, as where its user may not subscribe, or not to these channels', async () => {
    const { operator, link, lines } = await someUser()
    const cancel = link.listen('parley:bus:a', () => {})
    onTestFinished(cancel)
    await operator.acl('SETUSER', 'node', 'resetchannels')
    await operator.client('KILL', 'USER', 'node')
    await until(() => lines.some(({ reason }) => String(reason).startsWith('NOPERM')), { what: 'the reason' })
    await operator.acl('SETUSER', 'node', '&parley:*')
    await until(() => link.isUp, { what: 'Redis to be there again' })
  })
})
