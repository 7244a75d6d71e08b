import { afterAll, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { openServer } from '../platform/db/server.ts'
import { makeLog } from '../platform/log.ts'
import { findOwner, listOwners } from '../records/call-owner-store.ts'
import { liveCallsHere } from './live-calls.ts'
import { someLiveSession } from './live-session.fixture.ts'
import { LiveSessions } from './live-sessions.ts'
import { reachableCalls } from './reachable-calls.ts'
import { makeRemoteWatches } from './remote-watches.ts'

const ACME = 'acme' as TenantId
const HERE = 'node-1' as NodeId

/** A database that is away. */
const { db, close } = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
afterAll(close)

describe('while the database is away, a node that may have others beside it', () => {
  const clock = new TestClock()
  const wire = { ...memoryWire(), reachesOthers: true }
  const bus = makeBus({ wire, clock, log: makeLog({ level: 'silent', secrets: [] }), onDropped: () => {} })
  const live = new LiveSessions(clock)
  live.add(someLiveSession())
  const calls = reachableCalls({
    ...{ bus, live, nodeId: HERE, here: liveCallsHere(live, clock) },
    watches: makeRemoteWatches({ bus, clock, nodeId: HERE }),
    owners: {
      ownerOf: (tenantId, streamSid) => findOwner(db, tenantId, streamSid),
      ownersOf: (tenantId) => listOwners(db, tenantId),
    },
  })

  it('lists the calls that are here', async () => {
    expect(await calls.list(ACME)).toMatchObject([{ stream_sid: 'MZ1' }])
    expect(await calls.list('other' as TenantId)).toEqual([])
  })

  it('shows a call that is here, and says of any other one that nobody knows now', async () => {
    expect(await calls.get(ACME, 'MZ1')).toMatchObject({ call_sid: 'CA1' })
    await expect(calls.get(ACME, 'MZ2')).rejects.toMatchObject({ code: 'unavailable' })
  })
})
