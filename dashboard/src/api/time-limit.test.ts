import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { askInTime, LONGEST_READ_MS } from './time-limit.ts'

/** A service that answers so much of a body and hangs then; resolves with its address, and when it was asked. */
async function hanging(begun: string) {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    if (begun !== '') response.write(begun)
    resolve()
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
