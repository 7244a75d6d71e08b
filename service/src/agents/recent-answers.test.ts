import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { RecentAnswers } from './recent-answers.ts'

const UNAVAILABLE = new AppError('unavailable', 'The database is not reachable. Try again.')

/** A cache, and a source that answers with how often it was asked. */
function setUp(maxEntries?: number) {
  const clock = new TestClock()
  const told: unknown[] = []
  const onFault = (key: string, err: unknown) => void told.push([key, err])
  const answers = new RecentAnswers<string>({ clock, onFault, ...(maxEntries !== undefined && { maxEntries }) })
  let asked = 0
  const load = async () => `answer ${++asked}`
  return { clock, answers, load, told }
}

describe('recent answers', () => {
  it('are given again for a second and then asked anew', async () => {
    const { clock, answers, load } = setUp()
    expect(await answers.get('key', load)).toBe('answer 1')
    await clock.advance(999)
    expect(await answers.get('key', load)).toBe('answer 1')
    await clock.advance(1)
    expect(await answers.get('key', load)).toBe('answer 2')
  })

  it('are shared by all who ask at once', async () => {
    const { answers, load } = setUp()
    const given = await Promise.all(Array.from({ length: 20 }, () => answers.get('key', load)))
    expect(new Set(given)).toEqual(new Set(['answer 1']))
  })

  it('are shared by all who ask at once, too, where as many others are known as have room', async () => {
    const { answers, load } = setUp(2)
    for (const key of ['first', 'second']) await answers.get(key, load)
    const given = await Promise.all(Array.from({ length: 20 }, () => answers.get('third', load)))
    expect(new Set(given)).toEqual(new Set(['answer 3']))
  })

  it('are asked for anew where the first question is not answered within a second', async () => {
    const { clock, answers, load } = setUp()
    void answers.get('key', () => new Promise(() => undefined))
    await clock.advance(1_000)
    expect(await answers.get('key', load)).toBe('answer 1')
    expect(await answers.get('key', load)).toBe('answer 1')
  })

  it('are also given where they came with another one', async () => {
    const { clock, answers, load } = setUp()
    answers.put('key', 'known')
    expect(await answers.get('key', load)).toBe('known')
    await clock.advance(1_000)
    expect(await answers.get('key', load)).toBe('answer 1')
  })

  it('do not remember that there is nothing, nor a failure', async () => {
    const { answers, load } = setUp()
    expect(await answers.get('key', async () => null)).toBeNull()
    await expect(answers.get('key', () => Promise.reject(UNAVAILABLE))).rejects.toBe(UNAVAILABLE)
    expect(await answers.get('key', load)).toBe('answer 1')
  })

  it('stay while the database is not reachable, and are not asked for at every call meanwhile', async () => {
    const { clock, answers, load } = setUp()
    await answers.get('key', load)
    await clock.advance(1_000)
    expect(await answers.get('key', () => Promise.reject(UNAVAILABLE))).toBe('answer 1')
    expect(await answers.get('key', load)).toBe('answer 1')
    await clock.advance(1_000)
    expect(await answers.get('key', load)).toBe('answer 2')
  })

  it('stay however much else is asked for meanwhile of which nothing is known, and make room for what is found', async () => {
    const { clock, answers, load } = setUp(2)
    await answers.get('first', load)
    await answers.get('second', load)
    for (let n = 0; n < 5; n++) void answers.get(`nobody's ${n}`, () => new Promise(() => undefined))
    await clock.advance(1_000)
    const away = () => Promise.reject(UNAVAILABLE)
    expect([await answers.get('first', away), await answers.get('second', away)]).toEqual(['answer 1', 'answer 2'])
    expect(await answers.get('third', load)).toBe('answer 3')
    await clock.advance(1_000)
    expect(await answers.get('third', away)).toBe('answer 3')
    await expect(answers.get('first', away)).rejects.toBe(UNAVAILABLE)
  })

  it('stay when the database takes longer than half a second', async () => {
    const { clock, answers, load } = setUp()
    await answers.get('key', load)
    await clock.advance(1_000)
    const given = answers.get('key', () => new Promise(() => undefined))
    await clock.advance(500)
    expect(await given).toBe('answer 1')
    expect(clock.pendingTimers).toBe(0)
  })

  it('are learnt however late they come, each over those to earlier questions, while nobody waits', async () => {
    const { clock, answers, load } = setUp()
    await answers.get('key', load)
    const late = [1, 2, 3].map(() => Promise.withResolvers<string | null>())
    for (const { promise } of late) {
      await clock.advance(500)
      const given = answers.get('key', () => promise)
      await clock.advance(500)
      expect(await given).toBe('answer 1')
    }
    late[1]?.resolve('second')
    await late[1]?.promise
    late[0]?.resolve('first')
    await late[0]?.promise
    expect(await answers.get('key', load)).toBe('second')
    late[2]?.resolve(null)
    await late[2]?.promise
    expect(await answers.get('key', load)).toBe('answer 2')
  })

  it('stay whatever else fails, and are asked for again a second later', async () => {
    const { clock, answers, load } = setUp()
    await answers.get('key', load)
    await clock.advance(1_000)
    expect(await answers.get('key', () => Promise.reject(new Error('a fault')))).toBe('answer 1')
    expect(await answers.get('key', load)).toBe('answer 1')
    await clock.advance(1_000)
    expect(await answers.get('key', load)).toBe('answer 2')
  })

  it('tell what fails while they stay, once for a key until it works again, and not that the database is away', async () => {
    const { clock, answers, load, told } = setUp()
    const fault = new TypeError('a config that cannot be read')
    const fails = async (err: Error, key = 'key') => {
      await clock.advance(1_000)
      await answers.get(key, () => Promise.reject(err))
    }
    for (const key of ['key', 'other']) await answers.get(key, load)
    await fails(UNAVAILABLE)
    expect(told).toEqual([])
    for (const err of [fault, fault, UNAVAILABLE, fault]) await fails(err)
    expect(told).toEqual([['key', fault]])
    await fails(fault, 'other')
    expect(told).toEqual([
      ['key', fault],
      ['other', fault],
    ])
    await clock.advance(1_000)
    await answers.get('key', load)
    await fails(fault)
    expect(told).toHaveLength(3)
  })

  it('tell what fails when nobody waits for it any more', async () => {
    const { clock, answers, load, told } = setUp()
    await answers.get('key', load)
    await clock.advance(1_000)
    const late = Promise.withResolvers<string>()
    const given = answers.get('key', () => late.promise)
    await clock.advance(500)
    expect(await given).toBe('answer 1')
    expect(told).toEqual([])
    late.reject(new Error('a fault'))
    await expect(late.promise).rejects.toThrow('a fault')
    expect(told).toEqual([['key', new Error('a fault')]])
  })

  it('are forgotten from the longest ago on when there are too many', async () => {
    const { answers, load } = setUp(2)
    for (const key of ['a', 'b', 'c']) await answers.get(key, load)
    expect(await answers.get('b', load)).toBe('answer 2')
    expect(await answers.get('a', load)).toBe('answer 4')
  })
})
