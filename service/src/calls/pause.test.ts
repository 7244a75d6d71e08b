import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { unlessAborted } from './pause.ts'

const REASON = new Error('the service stops')

describe('work that is waited for unless it is to stop', () => {
  it('settles as it does, and leaves nobody listening', async () => {
    const { signal } = new AbortController()
    await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7)
    await expect(unlessAborted(Promise.reject(new Error('fails')), signal)).rejects.toThrow('fails')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('is given up as soon as it is to stop, whether that was before or comes then, and may fail afterwards', async () => {
    const stopping = new AbortController()
    const { promise: work, reject } = Promise.withResolvers<void>()
    const waiting = unlessAborted(work, stopping.signal)
    stopping.abort(REASON)
    await expect(waiting).rejects.toBe(REASON)
    await expect(unlessAborted(work, stopping.signal)).rejects.toBe(REASON)
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([])
    reject(new Error('fails'))
    await new Promise(setImmediate)
  })
})
