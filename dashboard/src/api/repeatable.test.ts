import { beforeEach, describe, expect, it } from 'vitest'
import { ApiFailure } from './failure.ts'
import { makeRepeatable } from './repeatable.ts'

const WORDS = { name: 'call acme', unknown: 'Not known yet.', doubt: 'May have been placed.' }

/** A tab: what is kept in it is there for the next page, too. */
let tab: Map<string, string>
/** The keys that the service was sent, in turn. */
let keys: string[]

beforeEach(() => {
  tab = new Map()
  keys = []
})

const doubts = () => ({
  getItem: (name: string) => tab.get(name) ?? null,
  setItem: (name: string, value: string) => void tab.set(name, value),
  removeItem: (name: string) => void tab.delete(name),
})

const form = (words: Parameters<typeof makeRepeatable>[0] = WORDS) => makeRepeatable(words, doubts())
type Form = ReturnType<typeof form>

const failure = (status: number, code: string) => new ApiFailure({ status, code, message: `In words for ${code}.` })
const LOST = failure(0, 'unreachable')

/** Presses the button; what is shown then. */
async function press({ send }: Form, answer: ApiFailure | 'done'): Promise<string> {
  const request = async (key: string) => {
    keys.push(key)
    if (answer === 'done') return answer
    throw answer
  }
  return send(request).catch((error: unknown) => (error as Error).message)
}

/** A request that is answered when it is told to be. */
function held({ send }: Form) {
  const answer = Promise.withResolvers<string>()
  const shown = send((key) => {
    keys.push(key)
    return answer.promise
  }).catch((error: unknown) => (error as Error).message)
  return { answer, shown }
}

describe('a request that was lost', () => {
  it.each([
    ['a body that cannot be read', failure(400, 'invalid_request')],
    ['the end of the session', failure(401, 'unauthorized')],
    ['a role that may not', failure(403, 'forbidden')],
    ['too many requests', failure(429, 'rate_limited')],
    ['a service that cannot', failure(503, 'unavailable')],
    ['a proxy', failure(503, 'http_503')],
    ['one with its key that is worked on', failure(409, 'request_in_flight')],
  ])('is asked for again with its key after %s, and stays in doubt meanwhile', async (_what, refusal) => {
    const first = form()
    await press(first, LOST)
    await press(first, refusal)
    await press(first, refusal)
    expect(tab.size).toBe(1)
    expect(await press(first, 'done')).toBe('done')
    expect([new Set(keys).size, tab.size]).toEqual([1, 0])
  })

  it.each([
    failure(409, 'tenant_busy'),
    failure(409, 'conflict'),
    failure(422, 'idempotency_mismatch'),
    failure(400, 'carrier_rejected'),
    failure(503, 'carrier_busy'),
    failure(503, 'carrier_unreachable'),
    failure(503, 'carrier_credentials'),
  ])('is settled by what the service says of its key: $code', async (refusal) => {
    const first = form()
    await press(first, LOST)
    await press(first, refusal)
    expect(tab.size).toBe(0)
    await press(first, 'done')
    expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false])
  })

  it('is told of once by a form that is opened after it, on a page that was loaded anew too', async () => {
    await press(form(), LOST)
    const second = form()
    expect(await press(second, 'done')).toBe(WORDS.doubt)
    expect(keys).toHaveLength(1)
    expect(await press(second, 'done')).toBe('done')
    expect(new Set(keys).size).toBe(2)
  })

  it('is told of in the same form once it has been closed', async () => {
    const first = form()
    await press(first, LOST)
    first.leave()
    expect(await press(first, 'done')).toBe(WORDS.doubt)
  })

  it('is told of where its like is asked for alone, and leaves nothing of what it says in the tab', async () => {
    await press(form(), LOST)
    expect(await press(form({ ...WORDS, name: 'call globex' }), 'done')).toBe('done')
    expect([...tab]).toEqual([['parley-in-doubt call acme', keys[0]]])
  })

  it('is asked what became of it', async () => {
    const first = form()
    await press(first, LOST)
    expect(await press(first, failure(503, 'submission_unknown'))).toBe(WORDS.unknown)
    expect(await press(first, failure(409, 'request_in_flight'))).toBe(WORDS.unknown)
    expect(await press(first, failure(422, 'idempotency_mismatch'))).toBe(WORDS.doubt)
  })
})

describe('a first request', () => {
  it.each([
    failure(400, 'invalid_request'),
    failure(401, 'unauthorized'),
    failure(409, 'dnc_listed'),
    failure(429, 'rate_limited'),
    failure(503, 'unavailable'),
    failure(503, 'carrier_busy'),
    failure(503, 'carrier_credentials'),
  ])('that has surely done nothing is not said to be in doubt: $code', async (refusal) => {
    expect(await press(form(), refusal)).toBe(refusal.message)
    expect(await press(form(), 'done')).toBe('done')
  })

  it.each([LOST, failure(503, 'http_503'), failure(500, 'internal'), failure(503, 'submission_unknown')])(
    'that may have done something is in doubt: $code',
    async (refusal) => {
      await press(form(), refusal)
      expect(await press(form(), 'done')).toBe(WORDS.doubt)
    },
  )

  it('whose like was lost after it stays out of that: the later one is in doubt whatever comes of the earlier', async () => {
    const asked = form()
    const first = held(asked)
    asked.leave()
    expect(await press(asked, 'done')).toBe(WORDS.doubt)
    await press(asked, LOST)
    first.answer.resolve('late')
    expect(await first.shown).toBe('late')
    const [, second] = keys
    expect([...tab.values()]).toEqual([second])
    await press(asked, 'done')
    expect(keys[2]).toBe(second)
  })
})

describe('a task, of which the service knows at once whether it is made', () => {
  const task = () => form({ name: 'task acme', doubt: 'May have been made.' })

  it('may have been made as it was before it was changed', async () => {
    const asked = task()
    await press(asked, LOST)
    expect(await press(asked, failure(422, 'idempotency_mismatch'))).toBe('May have been made.')
    expect(await press(asked, 'done')).toBe('done')
  })

  it('is said to be erased without a word of keys', async () => {
    expect(await press(task(), failure(409, 'conflict'))).toBe(
      'What was asked for before has been erased meanwhile. Press again to ask for it anew.',
    )
  })
})
