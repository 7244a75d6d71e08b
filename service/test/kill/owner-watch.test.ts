import { describe, expect, it } from 'vitest'
import { OwnerWatch } from './owner-watch.ts'

const row = (owner: string | null, epoch: number) => ({ call_sid: 'CA1', owner, epoch })

describe('the watch on owners', () => {
  it('takes an owner for each epoch, and none for a while, as right', () => {
    const watch = new OwnerWatch()
    for (const each of [row(null, 1), row('a', 1), row(null, 2), row('b', 2)]) watch.note([each])
    expect(watch.figures()).toEqual({ ownersPerEpochMax: 1, epochsFell: 0 })
  })

  it('sees two owners of one epoch, and an epoch that falls', () => {
    const watch = new OwnerWatch()
    for (const each of [row('a', 2), row('b', 2), row('b', 1)]) watch.note([each])
    expect(watch.figures()).toEqual({ ownersPerEpochMax: 2, epochsFell: 1 })
  })
})
