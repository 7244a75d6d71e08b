import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createParley, type SessionEvent } from './index.ts'
import { type Answer, event, refusal, streamOf, watchBeside } from './watched.fixture.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  // Nobody waits longer than is due.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const notFound: Answer = () => refusal(404)

/** Somebody who watches, and is answered so, one connection after the other; what else is asked has no answer. */
function watch(...answers: Answer[]) {
  return watchBeside(notFound, ...answers)
}

describe('watching a session', () => {
  it('makes a connection that says nothing for 45 s anew, but not one that gives signs of life', async () => {
    const seen = watch(
      (request) => streamOf(request, event(1)),
      (request) => streamOf(request, event(2, 'ended')),
    )
    await vi.advanceTimersByTimeAsync(44_000)
    expect(seen.after).toEqual([null])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seen).toEqual({ after: [null, '1'], ids: ['1', '2'], end: 'quietly' })
  })

  it('tries six times in a row, each after twice the time, and throws what was wrong with the last', async () => {
    const seen = watch()
    await vi.advanceTimersByTimeAsync(30_999)
    expect([seen.after.length, seen.end]).toEqual([5, 'none'])
    await vi.advanceTimersByTimeAsync(1)
    expect([seen.after.length, seen.end]).toEqual([6, new TypeError('fetch failed')])
  })

  it('waits up to twice as long by chance: those who lost the same node do not all come back in the same moment', async () => {
    vi.mocked(Math.random).mockRestore()
    const all = Array.from({ length: 100 }, () => watch())
    const cameBack = () => all.filter(({ after }) => after.length === 2).length
    await vi.advanceTimersByTimeAsync(1_500)
    expect(Math.abs(cameBack() - 50)).toBeLessThan(50)
    await vi.advanceTimersByTimeAsync(500)
    expect(cameBack()).toBe(100)
  })

  it('throws what says so where nobody answers at all, not that it was left', async () => {
    const silent: Answer = async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw signal.reason
    }
    const seen = watch(silent)
    await vi.advanceTimersByTimeAsync(6 * 45_000 + 31_000)
    const sentence = 'There were no events of the session for 45 s, and no sign of life.'
    expect([seen.after.length, seen.end]).toEqual([6, new Error(sentence)])
  })

  it('counts anew once something came', async () => {
    const cut = (request: Request) => streamOf(request, 'retry: 1000\n\n', true)
    const seen = watch(cut)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([seen.after.length, seen.end]).toEqual([61, 'none'])
  })

  it('waits as a refusal asks that may pass', async () => {
    const seen = watch(
      () => refusal(503, { 'retry-after': '5' }),
      (request) => streamOf(request, event(1, 'ended')),
    )
    await vi.advanceTimersByTimeAsync(4_999)
    expect(seen.after).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect([seen.after.length, seen.end]).toEqual([2, 'quietly'])
  })

  it('has what was done to a call in its states, as they are documented', async () => {
    const data = { state: 'talking', muted: true, escalated: true, escalation_target: null }
    const text = `id: 1\nevent: state\ndata: ${JSON.stringify(data)}\n\n`
    const fetch = async (request: Request) => streamOf(request, text)
    const parley = createParley({ baseUrl: 'https://voice.example.com', apiKey: 'k', fetch })
    for await (const told of parley.watchSession('MZ1')) {
      if (told.event !== 'state') continue
      const { muted, escalated, escalation_target: target } = told.data
      expect([muted, escalated, target]).toEqual([true, true, null])
      return
    }
  })

  it('has no agent of what a caller said, as it is documented', async () => {
    const said = { item_id: 'i1', seq: 1, role: 'caller', text: 'Hello.', unheard: '' } as const
    const data: Extract<SessionEvent, { event: 'turn' }>['data'] = {
      ...said,
      ...{ start_ms: 0, end_ms: 400, interrupted: false },
    }
    const fetch = async (request: Request) => streamOf(request, `id: 1\nevent: turn\ndata: ${JSON.stringify(data)}\n\n`)
    const parley = createParley({ baseUrl: 'https://voice.example.com', apiKey: 'k', fetch })
    for await (const told of parley.watchSession('MZ1')) {
      expect(told).toEqual({ id: '1', event: 'turn', data })
      return
    }
  })

  it('throws a refusal for good, also in the middle', async () => {
    const seen = watch(
      (request) => streamOf(request, event(1), true),
      () => refusal(401),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError', body: { code: 'unauthorized' } })
  })

  it('is ended by a signal that ends many others, which has one listener of them all', async () => {
    const fetch = async (request: Request) => streamOf(request, '')
    const parley = createParley({ baseUrl: 'https://voice.example.com', apiKey: 'k', fetch })
    const leaving = new AbortController()
    const { signal } = leaving
    const all = Array.from({ length: 20 }, () => parley.watchSession('MZ1', { signal }).next())
    await vi.advanceTimersByTimeAsync(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const reason = new Error('seen enough')
    leaving.abort(reason)
    const ends = await Promise.allSettled(all)
    expect(ends).toEqual(all.map(() => ({ status: 'rejected', reason })))
  })

  it('is ended by its signal before what came with the last event is told', async () => {
    const fetch = async (request: Request) => streamOf(request, event(1) + event(2) + event(3, 'ended'))
    const parley = createParley({ baseUrl: 'https://voice.example.com', apiKey: 'k', fetch })
    const leaving = new AbortController()
    const ids: string[] = []
    const read = async () => {
      for await (const { id } of parley.watchSession('MZ1', { signal: leaving.signal })) {
        ids.push(id)
        leaving.abort(new Error('seen enough'))
      }
    }
    await expect(read()).rejects.toThrow('seen enough')
    expect(ids).toEqual(['1'])
  })

  it('gives up on a page of somebody on the way as on any other answer that is none', async () => {
    const page = () => new Response('<html>Log in</html>', { headers: { 'content-type': 'text/html' } })
    const seen = watch(page)
    await vi.advanceTimersByTimeAsync(31_000)
    const sentence = 'What answered (200, text/html) is no stream of events: somebody on the way may have.'
    expect([seen.after.length, seen.end]).toEqual([6, new Error(sentence)])
  })
})
