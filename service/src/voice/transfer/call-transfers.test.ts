import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { CallTransfers } from './call-transfers.ts'

/** A transfer that its agent waits for, whose carrier was not asked yet. */
function wanted() {
  let current: string | null = null
  const carrier = {
    expectTarget: () => undefined,
    begin: () => new Promise<never>(() => undefined),
    putThrough: () => undefined,
  }
  const transfers = new CallTransfers({
    ...{ clock: new TestClock(), carrier },
    dispatch: (event) => {
      if (event.type === 'transfer') current = event.id
    },
    current: () => current,
  })
  return { transfers, told: transfers.transfer({ target: '+12025550103', summary: '', isWarm: false }, true) }
}

describe('CallTransfers', () => {
  it.each([
    ['spoken', 'conflict', /The caller spoke.*Answer what they said; if they still want .*transfer the call again/],
    ['unknown', 'conflict', /The caller spoke.*lost.*say it again; if they still want .*transfer the call again/],
    ['ending', 'conflict', /ending/],
    ['late', 'upstream_failed', /did not begin with it in time/],
  ] as const)('tells the agent why its transfer was called off: %s', async (why, code, message) => {
    const { transfers, told } = wanted()
    await Promise.resolve()
    transfers.cancel(why)
    await expect(told).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(transfers.held).toEqual([])
  })
})
