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

type Answer = (request: Request) => Response | Promise<Response>

const notFound: Answer = () => refusal(404)

/** Somebody who watches, and is answered so, one connection after the other; what else is asked has no answer. */
function watch(...answers: Answer[]) {
  return watchBeside(notFound, ...answers)
}

/** The same, with an answer to what else is asked. */
function watchBeside(beside: Answer, ...answers: Answer[]) {
  const seen = { after: [] as (string | null)[], ids: [] as string[], end: 'none' as unknown }
  const parley = createParley({
    baseUrl: 'https://voice.example.com',
    apiKey: 'k',
    async fetch(request) {
      if (!request.url.endsWith('/events')) return beside(request)
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

  it('throws a refusal for good, also in the middle', async () => {
    const seen = watch(
      (request) => streamOf(request, event(1), true),
      () => refusal(401),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError', body: { code: 'unauthorized' } })
  })
})

describe('a call that is not at its stream any more', () => {
  const json = (body: unknown) =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })

  /** What is known of the call CA1 beside its events: that it has this stream, or none, and what its log says. */
  function known({ stream, status }: { stream: string | null; status: string }): Answer {
    return ({ url }) => {
      const session = { call_sid: 'CA1', stream_sid: stream }
      const log = { call_log: { call_sid: 'CA1', status } }
      if (url.endsWith('/sessions/MZ1')) return json({ ok: true, session })
      if (url.endsWith('/sessions/active')) return json({ ok: true, sessions: stream === null ? [] : [session] })
      return url.endsWith('/call-logs/CA1') ? json({ ok: true, ...log }) : refusal(404)
    }
  }

  const lost = (request: Request) => streamOf(request, event(57), true)

  it('is watched from the first event on where it goes on, as soon as that is known', async () => {
    const call = { stream: null as string | null, status: 'in-progress' }
    const asked: string[] = []
    const goesOn: Answer = (request) => {
      asked.push(request.url)
      return request.url.includes('MZ2') ? streamOf(request, event(1) + event(2, 'ended')) : refusal(404)
    }
    const seen = watchBeside((request) => known(call)(request), lost, goesOn)
    await vi.advanceTimersByTimeAsync(20_000)
    expect([seen.after, seen.end]).toEqual([[null, '57'], 'none'])
    call.stream = 'MZ2'
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual({ after: [null, '57', null], ids: ['57', '1', '2'], end: 'quietly' })
    expect(asked.at(-1)).toBe('https://voice.example.com/api/v1/sessions/MZ2/events')
  })

  it('is over once its log says so', async () => {
    const call = { stream: null, status: 'in-progress' }
    const seen = watchBeside(
      (request) => known(call)(request),
      lost,
      () => refusal(404),
    )
    await vi.advanceTimersByTimeAsync(10_000)
    expect(seen.end).toBe('none')
    call.status = 'completed'
    await vi.advanceTimersByTimeAsync(1_000)
    expect([seen.ids, seen.end]).toEqual([['57'], 'quietly'])
  })

  it('is over, too, after half a minute in which it has no other one', async () => {
    const seen = watchBeside(known({ stream: null, status: 'in-progress' }), lost, () => refusal(404))
    await vi.advanceTimersByTimeAsync(30_999)
    expect(seen.end).toBe('none')
    await vi.advanceTimersByTimeAsync(1)
    expect(seen.end).toBe('quietly')
  })

  it('is not looked for by whom that is refused', async () => {
    const isAt = known({ stream: null, status: 'in-progress' })
    const beside: Answer = (request) => (request.url.endsWith('/active') ? refusal(401) : isAt(request))
    const seen = watchBeside(beside, lost, () => refusal(404))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError', body: { code: 'unauthorized' } })
  })
})
