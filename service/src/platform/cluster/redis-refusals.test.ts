import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useRedis } from '../../../test/harness/redis.ts'
import { until } from '../../../test/harness/wait.ts'
import { systemClock } from '../../kernel/clock.ts'
import { makeLog } from '../log.ts'
import { openRedis } from './redis-link.ts'
import { takeInRedis } from './redis-rate-counter.ts'

describe('a Redis that is reached', () => {
  const server = useRedis()

  /** A link to it, and what that has logged. */
  async function opened() {
    const lines: Record<string, unknown>[] = []
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) }
    const log = makeLog({ level: 'info', secrets: [], destination })
    return { link: await openRedis({ url: server.url, clock: systemClock, log }), lines }
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
})
