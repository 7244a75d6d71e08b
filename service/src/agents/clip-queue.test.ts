import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { ClipQueue, type QueueLimits } from './clip-queue.ts'

const [acme, globex] = ['acme' as TenantId, 'globex' as TenantId]

/** A queue, the names of what it began, in order, and how each of them ends. */
function queueOf(limits: Partial<QueueLimits> = {}) {
  const queue = new ClipQueue({ running: 2, runningOfTenant: 2, waitingOfTenant: 3, ...limits })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (tenantId: TenantId, name: string) =>
    queue.add(tenantId, name, () => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { queue, begun, add, end }
}

describe('Clips that are to be made', () => {
  it('take turns by their tenants', async () => {
    const { begun, add, end } = queueOf()
    for (const name of ['a1', 'a2', 'a3', 'a4']) add(acme, name)
    for (const name of ['g1', 'g2']) add(globex, name)
    for (const name of ['a1', 'a2', 'a3', 'g1']) await end(name)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'g1', 'a4', 'g2'])
  })

  it('are so many of one tenant at once, though there is room for more', async () => {
    const { begun, add, end } = queueOf({ runningOfTenant: 1 })
    add(acme, 'a1')
    add(acme, 'a2')
    add(globex, 'g1')
    expect(begun).toEqual(['a1', 'g1'])
    await end('g1')
    expect(begun).toEqual(['a1', 'g1'])
    await end('a1')
    expect(begun).toEqual(['a1', 'g1', 'a2'])
  })

  it('are passed over where so many of the tenant wait, and where they are known', async () => {
    const { begun, add, end } = queueOf({ running: 1, waitingOfTenant: 1 })
    for (const name of ['a1', 'a1', 'a2', 'a3']) add(acme, name)
    add(globex, 'g1')
    for (const name of ['a1', 'a2', 'g1']) await end(name)
    expect(begun).toEqual(['a1', 'a2', 'g1'])
    add(acme, 'a3')
    expect(begun.at(-1)).toBe('a3')
  })

  it('are begun no more once it is closed, which waits for those under way', async () => {
    const { queue, begun, add, end } = queueOf({ running: 1 })
    add(acme, 'a1')
    add(acme, 'a2')
    let isClosed = false
    const closed = queue.close().then(() => {
      isClosed = true
    })
    await Promise.resolve()
    expect(isClosed).toBe(false)
    await end('a1')
    await closed
    add(globex, 'g1')
    expect(begun).toEqual(['a1'])
  })
})
