import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createParley } from './index.ts'
import { type Answer, event, json, refusal, streamOf, watchBeside } from './watched.fixture.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  // Nobody waits longer than is due.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a call that is not at its stream any more', () => {
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
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seen).toEqual({ after: [null, '57', null], ids: ['57', '1', '2'], end: 'quietly' })
    expect(asked.at(-1)).toBe('https://voice.example.com/api/v1/sessions/MZ2/events')
  })

  it.each([
    ['behind', ['MZ2', 'MZ1']],
    ['before', ['MZ1', 'MZ2']],
  ])('is watched where it goes on, while its node still lists it %s that', async (_where, streams) => {
    const sessions = streams.map((stream) => ({ call_sid: 'CA1', stream_sid: stream }))
    const isAt = known({ stream: 'MZ1', status: 'in-progress' })
    const beside: Answer = (request) => (request.url.endsWith('/active') ? json({ ok: true, sessions }) : isAt(request))
    const goesOn: Answer = (request) =>
      request.url.includes('MZ2') ? streamOf(request, event(1, 'ended')) : refusal(404)
    const seen = watchBeside(beside, lost, goesOn)
    await vi.advanceTimersByTimeAsync(1_000)
    expect([seen.ids, seen.end]).toEqual([['57', '1'], 'quietly'])
  })

  it('is watched where it goes on, too, where its own node was out of reach for as long as that is waited for', async () => {
    const unavailable: Answer = () => refusal(503)
    const goesOn: Answer = (request) =>
      request.url.includes('MZ2') ? streamOf(request, event(1, 'ended')) : refusal(404)
    const seen = watchBeside(
      known({ stream: 'MZ2', status: 'in-progress' }),
      lost,
      ...Array.from({ length: 4 }, () => unavailable),
      goesOn,
    )
    await vi.advanceTimersByTimeAsync(40_000)
    expect([seen.ids, seen.end]).toEqual([['57', '1'], 'quietly'])
  })

  it('is given up after half a minute where two streams are listed and neither answers', async () => {
    const sessions = ['MZ1', 'MZ2'].map((stream) => ({ call_sid: 'CA1', stream_sid: stream }))
    const isAt = known({ stream: 'MZ1', status: 'in-progress' })
    const beside: Answer = (request) => (request.url.endsWith('/active') ? json({ ok: true, sessions }) : isAt(request))
    const seen = watchBeside(beside, lost, () => refusal(404))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(seen.end).toBe('none')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError' })
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
    await vi.advanceTimersByTimeAsync(16_000)
    expect([seen.ids, seen.end]).toEqual([['57'], 'quietly'])
  })

  it('is over, too, after half a minute in which it has no other one', async () => {
    const seen = watchBeside(known({ stream: null, status: 'in-progress' }), lost, () => refusal(404))
    await vi.advanceTimersByTimeAsync(30_999)
    expect(seen.end).toBe('none')
    await vi.advanceTimersByTimeAsync(2_001)
    expect(seen.end).toBe('quietly')
  })

  it('is not looked for by whom that is refused', async () => {
    const isAt = known({ stream: null, status: 'in-progress' })
    const beside: Answer = (request) => (request.url.endsWith('/active') ? refusal(401) : isAt(request))
    const seen = watchBeside(beside, lost, () => refusal(404))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen.end).toMatchObject({ name: 'ParleyError', body: { code: 'unauthorized' } })
  })

  it('is looked for again, also where nobody could say at first of which call the session was', async () => {
    const isAt = known({ stream: 'MZ2', status: 'in-progress' })
    let isAway = true
    const beside: Answer = (request) =>
      isAway && request.url.endsWith('/sessions/MZ1') ? refusal(503, { 'retry-after': '5' }) : isAt(request)
    const goesOn: Answer = (request) =>
      request.url.includes('MZ2') ? streamOf(request, event(1, 'ended')) : refusal(404)
    let cut = () => {}
    const open: Answer = (request) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(event(57)))
          cut = () => controller.close()
          request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const seen = watchBeside(beside, open, goesOn)
    await vi.advanceTimersByTimeAsync(4_000)
    isAway = false
    await vi.advanceTimersByTimeAsync(2_000)
    cut()
    await vi.advanceTimersByTimeAsync(1_000)
    expect([seen.ids, seen.end]).toEqual([['57', '1'], 'quietly'])
  })
})

describe('calls that were lost together', () => {
  const CALLS = Array.from({ length: 40 }, (_, at) => at)

  /** A client that watches them all, and has lost them; `active` answers where the live ones are. */
  function lostTogether(active: () => Response) {
    const seen = { looks: 0, logs: 0, ends: [] as unknown[] }
    const fetch: Answer = (request) => {
      const { pathname } = new URL(request.url)
      const [, , , , name = '', what] = pathname.split('/')
      if (pathname.startsWith('/api/v1/call-logs/')) {
        seen.logs += 1
        return json({ ok: true, call_log: { status: 'in-progress' } })
      }
      if (name === 'active') {
        seen.looks += 1
        return active()
      }
      if (what === undefined) return json({ ok: true, session: { call_sid: name.replace('MZ', 'CA') } })
      if (name.endsWith('-next')) return streamOf(request, event(1, 'ended'))
      return request.headers.has('last-event-id') ? refusal(404) : streamOf(request, event(57), true)
    }
    const parley = createParley({ baseUrl: 'https://voice.example.com', apiKey: 'k', fetch: async (r) => fetch(r) })
    const watch = async (at: number, signal?: AbortSignal) => {
      for await (const { event } of parley.watchSession(`MZ${at}`, signal && { signal }))
        if (event === 'ended') return 'ended'
      return 'quietly'
    }
    const watchAll = (signal?: AbortSignal) => {
      for (const at of CALLS) {
        const end = watch(at, signal)
        void end.then(
          (how) => seen.ends.push(how),
          (error: unknown) => seen.ends.push(error),
        )
      }
    }
    return { seen, watch, watchAll }
  }

  const liveCalls = (isThere: boolean) =>
    json({
      ok: true,
      sessions: isThere ? CALLS.map((at) => ({ call_sid: `CA${at}`, stream_sid: `MZ${at}-next` })) : [],
    })

  it('are looked for by one question every second or two, and found with the next', async () => {
    let isThere = false
    const { seen, watchAll } = lostTogether(() => liveCalls(isThere))
    watchAll()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(seen.looks).toBeGreaterThanOrEqual(10)
    expect(seen.looks).toBeLessThanOrEqual(20)
    expect(seen.logs).toBeLessThanOrEqual(3 * CALLS.length)
    isThere = true
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seen.ends).toEqual(CALLS.map(() => 'ended'))
  })

  it('are looked for no sooner than a refusal asks, and are not over before somebody has said so', async () => {
    let isRefused = true
    const { seen, watchAll } = lostTogether(() => (isRefused ? refusal(429, { 'retry-after': '45' }) : liveCalls(true)))
    watchAll()
    await vi.advanceTimersByTimeAsync(45_000)
    expect(seen).toEqual({ looks: 1, logs: 0, ends: [] })
    isRefused = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect([seen.looks, seen.ends]).toEqual([2, CALLS.map(() => 'ended')])
  })

  it('throw what is wrong where for half a minute nobody says where they are', async () => {
    const { seen, watchAll } = lostTogether(() => refusal(503))
    watchAll()
    await vi.advanceTimersByTimeAsync(48_000)
    expect(seen.looks).toBeLessThanOrEqual(10)
    expect(seen.ends).toHaveLength(CALLS.length)
    expect(seen.ends[0]).toMatchObject({ name: 'ParleyError', body: { code: 'unavailable' } })
  })

  it('are left one by one, and asked for no more once all are left', async () => {
    let isThere = false
    const { seen, watch, watchAll } = lostTogether(() => liveCalls(isThere))
    const [one, others] = [new AbortController(), new AbortController()]
    const first = watch(0, one.signal)
    watchAll(others.signal)
    await vi.advanceTimersByTimeAsync(5_000)
    others.abort(new Error('seen enough'))
    await vi.advanceTimersByTimeAsync(0)
    expect(seen.ends).toEqual(CALLS.map(() => new Error('seen enough')))
    isThere = true
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await first).toBe('ended')
    expect(vi.getTimerCount()).toBe(0)
  })
})
