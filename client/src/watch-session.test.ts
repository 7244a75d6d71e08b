import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createParley } from './index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const event = (id: number, name = 'state') => `id: ${id}\nevent: ${name}\ndata: {}\n\n`

/** An answer whose events are told at once; it stays open unless it is cut, and breaks off as connections do. */
function streamOf(request: Request, text: string, isCut = false): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
      if (isCut) controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Somebody who watches, and is answered so, one connection after the other. */
function watch(...answers: ((request: Request) => Response | Promise<Response>)[]) {
  const seen = { after: [] as (string | null)[], ids: [] as string[], end: 'none' as unknown }
  const parley = createParley({
    baseUrl: 'https://voice.example.com',
    apiKey: 'k',
    async fetch(request) {
      const answer = answers[Math.min(seen.after.length, answers.length - 1)]
      seen.after.push(request.headers.get('last-event-id'))
      if (!answer) throw new TypeError('fetch failed')
      return answer(request)
    },
  })
  const read = async () => {
    for await (const { id } of parley.watchSession('MZ1')) seen.ids.push(id)
  }
  void read().then(
    () => {
      seen.end = 'quietly'
    },
    (error: unknown) => {
      seen.end = error
    },
  )
  return seen
}

const refusal = (status: number, headers = {}) => new Response('', { status, headers })

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

  it('throws a refusal for good, also in the middle', async () => {
    const seen = watch(
      (request) => streamOf(request, event(1), true),
      () => refusal(401),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError', body: { code: 'unauthorized' } })
  })
})
