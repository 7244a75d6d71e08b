import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useRedis } from '../../../test/harness/redis.ts'
import { startTcpProxy } from '../../../test/harness/tcp-proxy.ts'
import { until } from '../../../test/harness/wait.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { makeLog } from '../log.ts'
import { openRedis } from './redis-link.ts'
import { takeInRedis } from './redis-rate-counter.ts'

describe('a Redis in whose place another one is the primary', () => {
  const [first, second] = [useRedis(), useRedis()]

  /** A link to the first one, by a name that may lead to another, and what it has logged. */
  async function opened(clock: Clock = systemClock) {
    const target = { host: '127.0.0.1', port: first.port }
    const proxy = await startTcpProxy(target)
    const said: unknown[] = []
    const destination = { write: (line: string) => said.push((JSON.parse(line) as { msg: string }).msg) }
    const log = makeLog({ level: 'info', secrets: [], destination })
    const link = await openRedis({ url: first.urlBy(proxy.port), clock, log })
    const operator = new Redis(first.url)
    onTestFinished(async () => {
      link.close()
      await operator.replicaof('NO', 'ONE')
      operator.disconnect()
      await proxy.close()
    })
    await until(() => link.isUp, { what: 'Redis to be there' })
    const take = () => takeInRedis(link, 'a', 10)
    await take()
    const demote = () => operator.replicaof('127.0.0.1', 1)
    return { target, said, link, take, demote, promote: () => operator.replicaof('NO', 'ONE') }
  }

  it('is left for that one, though its connections stay, and what is listened to is heard there', async () => {
    const { target, link, take, demote } = await opened()
    const heard: string[] = []
    link.listen('parley:bus:a', (text) => heard.push(text))
    await demote()
    target.port = second.port
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
    await until(() => link.doesWork, { what: 'the link to the new primary' })
    await take()
    const operator = new Redis(second.url)
    onTestFinished(() => operator.disconnect())
    await until(async () => (await operator.publish('parley:bus:a', 'told')) === 1, { what: 'somebody who listens' })
    await until(() => heard.includes('told'), { what: 'the message' })
  })

  it('is kept, with its connections, when it is the primary again', async () => {
    const { said, link, take, demote, promote } = await opened()
    await demote()
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
    await promote()
    await until(() => link.doesWork, { what: 'the primary to be one again' })
    expect(said).toEqual([
      'redis is there',
      'redis refuses what it is told: this node works on without',
      'redis does again what it is told',
    ])
  })

  it('is kept, and it is said once, while there is no other one', async () => {
    const clock = new TestClock()
    const { said, link, take, demote } = await opened(clock)
    await demote()
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
    for (let second = 0; second < 10; second += 1) {
      await clock.advance(1_000)
      await link.run((redis) => redis.ping(), 1_000, 'message')
    }
    expect([link.isUp, link.doesWork]).toEqual([true, false])
    expect(said).toEqual(['redis is there', 'redis refuses what it is told: this node works on without'])
  })
})
