import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { RecentAnswers } from './recent-answers.ts'

const UNAVAILABLE = new AppError('unavailable', 'The database is not reachable. Try again.')

/** A cache, and a source that answers with how often it was asked. */
function setUp(maxEntries?: number) {
  const clock = new TestClock()
  const answers = new RecentAnswers<string>({ clock, ...(maxEntries !== undefined && { maxEntries }) })
  let asked = 0
  const load = async () => `answer ${++asked}`
  return { clock, answers, load }
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

  it('are forgotten from the longest ago on when there are too many', async () => {
    const { answers, load } = setUp(2)
    for (const key of ['a', 'b', 'c']) await answers.get(key, load)
    expect(await answers.get('b', load)).toBe('answer 2')
    expect(await answers.get('a', load)).toBe('answer 4')
  })
})
