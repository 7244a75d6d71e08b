import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { followEvents, type ServerEvent, type StreamState } from './follow-events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A server that gives these answers, one request after the other. */
async function serve(...answers: Answer[]): Promise<string> {
  const server = createServer((request, response) => answers.shift()?.(response, request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
}

const refusal =
  (status: number, headers = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end('{}')

/** Tells one event and ends. */
const telling =
  (id: number): Answer =>
  (response, { headers }) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: ${id}\nevent: turn\ndata: {"after":"${headers['last-event-id'] ?? ''}"}\n\n`)

/** Somebody who follows, what came, and the states one after the other. */
function follow(path: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const events: ServerEvent[] = []
  const states: StreamState[] = []
  let told = () => {}
  const followed = followEvents({
    ...{ path, tenantId: 'acme', lastId: null, signal: leaving.signal },
    onEvent: (event) => {
      events.push(event)
      told()
    },
    onState: (state) => {
      states.push(state)
      told()
    },
  })
  async function nth<Thing>(things: Thing[], count: number): Promise<Thing | undefined> {
    while (things.length < count)
      await new Promise<void>((resolve) => {
        told = resolve
      })
    return things[count - 1]
  }
  /** The state after so many. */
  const state = (count: number) => nth(states, count)
  const event = (count: number) => nth(events, count)
  return { events, states, state, event, followed, leave: () => leaving.abort() }
}

describe('following events', () => {
  it.each([408, 429, 500, 502, 503, 504])('goes on behind the last event after a %i', async (status) => {
    const followed = follow(await serve(telling(1), refusal(status), telling(2)))
    await followed.state(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await followed.state(3)).toMatchObject({ isOpen: false, failure: { status } })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await followed.state(4)).toEqual({ isOpen: true, failure: null })
    await followed.state(5)
    expect(followed.events.map(({ id, data }) => [id, data])).toEqual([
      ['1', { after: '' }],
      ['2', { after: '1' }],
    ])
  })

  // That of Firefox holds a second window of the same call back until the first has left it.
  it('asks past the cache of the browser', async () => {
    const asked = vi.fn<(headers: IncomingMessage['headers']) => void>()
    const answer: Answer = (response, request) => {
      asked(request.headers)
      telling(1)(response, request)
    }
    await follow(await serve(answer)).event(1)
    expect(asked).toHaveBeenCalledWith(expect.objectContaining({ 'cache-control': 'no-cache', pragma: 'no-cache' }))
  })

  it('waits as long as it is told to', async () => {
    const followed = follow(await serve(refusal(429, { 'retry-after': '30' }), telling(1)))
    await followed.state(1)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(followed.states).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await followed.state(2)).toEqual({ isOpen: true, failure: null })
  })

  it.each([401, 403, 404])('is over with a %i', async (status) => {
    const followed = follow(await serve(refusal(status)))
    expect(await followed.followed).toMatchObject({ status })
    expect(followed.states).toMatchObject([{ isOpen: false, failure: { status } }])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('takes a connection of which nothing is heard for 45 s for lost', async () => {
    let stream: ServerResponse | undefined
    const silent: Answer = (response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      stream.write('id: 1\nevent: turn\ndata: {}\n\n')
    }
    const followed = follow(await serve(silent, telling(2)))
    await followed.event(1)
    await vi.advanceTimersByTimeAsync(44_000)
    stream?.write(': alive\n\nid: 2\nevent: turn\ndata: {}\n\n')
    await followed.event(2)
    await vi.advanceTimersByTimeAsync(44_999)
    expect(followed.states).toEqual([{ isOpen: true, failure: null }])
    await vi.advanceTimersByTimeAsync(1)
    expect(await followed.state(2)).toEqual({ isOpen: false, failure: null })
    await vi.advanceTimersByTimeAsync(1_000)
    await followed.event(3)
    expect(followed.events.map(({ data }) => data)).toEqual([{}, {}, { after: '2' }])
    followed.leave()
    expect(await followed.followed).toBeNull()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('goes on when there is somebody to answer again, and leaves no timer when it is left', async () => {
    const followed = follow(await serve((response) => response.destroy(), telling(1)))
    expect(await followed.state(1)).toMatchObject({ failure: { code: 'unreachable' } })
    await vi.advanceTimersByTimeAsync(1_000)
    await followed.state(3)
    followed.leave()
    expect(await followed.followed).toBeNull()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('looks in every two seconds while other windows keep as many streams open as may be, and stays once one of them is gone', async () => {
    const others = [1, 2, 3].map((place) => holdPlace(place))
    const leaves = await Promise.all(others)
    const begins =
      (id: number): Answer =>
      (response, { headers }) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(`id: ${id}\nevent: turn\ndata: {"after":"${headers['last-event-id'] ?? ''}"}\n\n`)
    const left = Promise.withResolvers<void>()
    let asked = 0
    const leavable: Answer = (response, request) => {
      asked += 1
      response.once('close', left.resolve)
      begins(1)(response, request)
    }
    const stays: Answer = (response, request) => {
      asked += 1
      response.once('close', () => stillThere.abort())
      begins(2)(response, request)
    }
    const stillThere = new AbortController()
    const followed = follow(await serve(leavable, stays))
    await followed.event(1)
    await vi.advanceTimersByTimeAsync(500)
    await left.promise
    expect(followed.states).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1_499)
    expect(asked).toBe(1)
    // One of the other windows is closed: nothing is waited for any more.
    leaves[1]?.()
    await followed.event(2)
    await vi.advanceTimersByTimeAsync(44_000)
    expect(stillThere.signal.aborted).toBe(false)
    expect(followed.events.map(({ data }) => data)).toEqual([{ after: '' }, { after: '1' }])
    expect(followed.states.every(({ isOpen }) => isOpen)).toBe(true)
    for (const leave of leaves) leave()
  })

  it('gives its place back when it is refused for good', async () => {
    expect(await follow(await serve(refusal(404))).followed).toMatchObject({ status: 404 })
    const leaves = await Promise.all([1, 2, 3].map((place) => holdPlace(place)))
    for (const leave of leaves) leave()
  })
})

/** Takes a place as another window does; resolves, once it has it, with what gives it back. */
function holdPlace(place: number): Promise<() => void> {
  return new Promise((held) => {
    void navigator.locks.request(`parley-stream-${place}`, () => new Promise<void>(held))
  })
}
