import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useRedis } from '../../../test/harness/redis.ts'
import { until } from '../../../test/harness/wait.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError, invalidRequest } from '../../kernel/errors.ts'
import { openRedis, type RedisLink } from '../cluster/redis-link.ts'
import { makeLog } from '../log.ts'
import { makeBus } from './bus.ts'
import { memoryWire } from './memory.ts'
import type { Bus, Wire } from './port.ts'
import { redisWire } from './redis.ts'

const redis = useRedis()
const log = makeLog({ level: 'silent', secrets: [] })

/** Two nodes on one wire; in memory that is one process with two buses. */
const KINDS: Record<string, () => Promise<{ wires: [Wire, Wire]; links: RedisLink[] }>> = {
  async memory() {
    const wire = memoryWire()
    return { wires: [wire, wire], links: [] }
  },
  async redis() {
    const open = () => openRedis({ url: redis.url, clock: systemClock, log })
    const [one, other] = [await open(), await open()]
    return { wires: [redisWire(one), redisWire(other)], links: [one, other] }
  },
}

describe.each(Object.keys(KINDS))('a bus over %s', (kind) => {
  let one: Bus
  let other: Bus
  let links: RedisLink[] = []
  const dropped: unknown[] = []

  beforeEach(async () => {
    const made = await KINDS[kind]?.()
    if (!made) throw new Error(`there is no ${kind}`)
    links = made.links
    dropped.length = 0
    const onDropped = () => void dropped.push(1)
    const [first, second] = made.wires.map((wire) => makeBus({ wire, clock: systemClock, log, onDropped }))
    if (!first || !second) throw new Error('two buses')
    one = first
    other = second
    await until(() => links.every(({ isUp }) => isUp), { what: 'Redis to be there' })
  })
  afterEach(() => {
    for (const each of [one, other, ...links]) each.close()
  })

  /** A subscription is in force once it is told of something. */
  async function subscribed(topic: string, listener: (message: unknown) => void): Promise<() => void> {
    let isReady = false
    const stop = other.subscribe(topic, (message) => {
      if (message === 'ready') isReady = true
      else listener(message)
    })
    await until(
      () => {
        one.publish(topic, 'ready')
        return isReady
      },
      { what: 'the subscription' },
    )
    return stop
  }

  async function answered(topic: string, question: unknown): Promise<unknown> {
    return until(() => one.ask(topic, question, 2_000).catch(retried), { what: 'an answer' })
  }

  /** Nobody answers yet. */
  function retried(error: unknown): null {
    if (error instanceof AppError && error.code === 'unavailable') return null
    throw error
  }

  it('tells all who subscribed, in order, until they are not any more', async () => {
    const told: unknown[] = []
    const stop = await subscribed('news', (message) => told.push(message))
    for (let n = 0; n < 50; n += 1) one.publish('news', { n })
    one.publish('other news', 'x')
    await until(() => told.length === 50, { what: 'the messages' })
    expect(told).toEqual(Array.from({ length: 50 }, (_, n) => ({ n })))
    stop()
    one.publish('news', 'late')
    await subscribed('end', () => {})
    expect(told).toHaveLength(50)
  })

  it('carries a question to who answers it, and the answer back', async () => {
    other.answer('sums', (question) => (question as number[]).reduce((a, b) => a + b))
    expect(await answered('sums', [1, 2, 3])).toBe(6)
    const many = await Promise.all(Array.from({ length: 50 }, (_, n) => one.ask('sums', [n, 1], 2_000)))
    expect(many).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
  })

  it('carries the refusal of who answers, and of a fault nothing but that it was one', async () => {
    other.answer('refusing', () => {
      throw invalidRequest([{ path: '/body/text', message: 'must be there' }])
    })
    other.answer('failing', () => {
      throw new Error('password=swordfish')
    })
    const refusal = await answered('refusing', null).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/text' }] })
    const failure = await answered('failing', null).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'internal' })
    expect(String(failure)).not.toContain('swordfish')
  })

  it('refuses a question at once that nobody answers, and one that is not answered in time', async () => {
    await expect(one.ask('nobody', null, 600_000)).rejects.toMatchObject({ code: 'unavailable' })
    other.answer('silent', () => new Promise(() => {}))
    await until(
      () =>
        one.ask('silent', null, 50).then(
          () => false,
          (error: AppError) => error.code === 'unavailable',
        ),
      { what: 'the refusal' },
    )
  })

  it('gives up what is asked when it is closed', async () => {
    other.answer('silent', () => new Promise(() => {}))
    const asked = one.ask('silent', null, 10_000).catch((error: unknown) => error)
    one.close()
    expect(await asked).toMatchObject({ code: 'unavailable' })
  })
})

describe('a Redis that goes away', () => {
  it('fails what is asked of others at once, drops and counts what is published, and is joined again by itself', async () => {
    const lines: string[] = []
    const told = makeLog({ level: 'debug', secrets: [], destination: { write: (line) => lines.push(line) } })
    const link = await openRedis({ url: redis.url, clock: systemClock, log: told })
    let dropped = 0
    const onDropped = () => {
      dropped += 1
    }
    const bus = makeBus({ wire: redisWire(link), clock: systemClock, log: told, onDropped })
    const heard: unknown[] = []
    bus.subscribe('news', (message) => heard.push(message))
    await until(() => link.isUp, { what: 'Redis' })
    expect(link.upForMs).toBe(Number.POSITIVE_INFINITY)
    await redis.stop()
    await until(() => !link.isUp, { what: 'the loss to be seen' })
    expect(link.upForMs).toBe(0)
    await expect(bus.ask('sums', null, 600_000)).rejects.toMatchObject({ code: 'unavailable' })
    const stop = bus.answer('own', (question) => [question])
    expect(await bus.ask('own', 1, 2_000)).toEqual([1])
    stop()
    await expect(bus.ask('own', 1, 600_000)).rejects.toMatchObject({ code: 'unavailable' })
    bus.publish('news', 'lost')
    await until(() => dropped === 1, { what: 'the message to be dropped' })
    await redis.start()
    await until(() => link.isUp, { what: 'Redis to be back' })
    expect(link.upForMs).toBeLessThan(60_000)
    bus.publish('news', 'found')
    await until(() => heard.length > 0, { what: 'the message' })
    expect(heard).toEqual(['found'])
    bus.close()
    link.close()
    const text = lines.join('')
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['redis is there', 'redis is away', 'redis is there'])
    expect(text).not.toContain('password-of-the-redis')
  })
})
