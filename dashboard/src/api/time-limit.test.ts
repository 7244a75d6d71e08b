import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { askInTime, fileInTime, LONGEST_READ_MS } from './time-limit.ts'

/** A service that answers so much of a body and hangs then; resolves with its address, and when it was asked, with the rest of its answer. */
async function hanging(begun: string) {
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => {
    if (begun !== '') response.write(begun)
    resolve(response)
  })
  await new Promise<void>((listening) => server.listen(0, listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
}

function withoutWaiting(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

it.each([
  ['has not begun', ''],
  ['has begun and goes on no more', '{'],
])('gives up a question whose answer %s in half a minute, and says so', async (_what, begun) => {
  const { address, asked } = await hanging(begun)
  withoutWaiting()
  const answer = askInTime(new Request(address)).catch((failure: unknown) => failure)
  await asked
  vi.advanceTimersByTime(LONGEST_READ_MS)
  // It may be asked again by whoever wants that, and is not by itself: that would take as long again.
  expect(await answer).toMatchObject({
    code: 'unreachable',
    status: 408,
    message: expect.stringContaining('30 seconds'),
  })
})

it('waits for what changes something, however long that takes', async () => {
  const { address, asked } = await hanging('')
  withoutWaiting()
  const leaving = new AbortController()
  const settled = vi.fn<(failure: unknown) => void>()
  const answer = askInTime(new Request(address, { method: 'POST', signal: leaving.signal })).catch(settled)
  await asked
  vi.advanceTimersByTime(LONGEST_READ_MS * 100)
  expect([vi.getTimerCount(), settled.mock.calls.length]).toEqual([0, 0])
  leaving.abort()
  await answer
  expect(settled).toHaveBeenCalledOnce()
})

it('ends a question that nobody waits for any more', async () => {
  const { address, asked } = await hanging('{')
  const leaving = new AbortController()
  const answer = askInTime(new Request(address, { signal: leaving.signal })).catch((failure: unknown) => failure)
  await asked
  leaving.abort()
  expect(await answer).toMatchObject({ name: 'AbortError' })
})

describe('a file', () => {
  /** Begins to read one; each part of it is told as it comes. */
  function reading(address: string) {
    const parts = new EventEmitter()
    const file = fileInTime(async (fetch) => {
      const { body } = await fetch(new Request(address))
      let read = ''
      for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        read += part
        parts.emit('part')
      }
      return read
    })
    return { next: () => once(parts, 'part'), file }
  }

  it('takes as long as it comes, and is handed on part by part', async () => {
    const { address, asked } = await hanging('a')
    withoutWaiting()
    const { next, file } = reading(address)
    let came = next()
    const rest = await asked
    for (const part of ['b', 'c', 'd']) {
      await came
      vi.advanceTimersByTime(LONGEST_READ_MS - 1)
      came = next()
      rest.write(part)
    }
    await came
    rest.end()
    expect(await file).toBe('abcd')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given up when nothing of it comes for half a minute', async () => {
    const { address } = await hanging('a')
    withoutWaiting()
    const { next, file } = reading(address)
    const failure = file.catch((error: unknown) => error)
    await next()
    vi.advanceTimersByTime(LONGEST_READ_MS)
    expect(await failure).toMatchObject({ code: 'unreachable', status: 408 })
  })

  it('that breaks off is told as what nobody answered', async () => {
    const { address, asked } = await hanging('a')
    const { next, file } = reading(address)
    const failure = file.catch((error: unknown) => error)
    await next()
    const rest = await asked
    rest.destroy()
    expect(await failure).toMatchObject({ code: 'unreachable', status: 0 })
  })
})
