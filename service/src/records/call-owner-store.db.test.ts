import { type RawBuilder, sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { NodeId } from '../kernel/ids.ts'
import { beat, removeNode } from '../platform/nodes/heartbeat-store.ts'
import { findOwner, listOwners } from './call-owner-store.ts'
import { NODE, OTHER_NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeSessions } from './sessions.ts'

const test = useDatabase()
const [acme, other] = [tenantTold('acme'), tenantTold('other')]

/** A call with a stream on that node; both are named by the same word. */
async function callOn(nodeId: NodeId, name: string, tenant = acme): Promise<void> {
  const sessions = makeSessions({ db: test.db, clock: new TestClock(), nodeId })
  const { epoch } = await sessions.open(tenant, someCall(`CA-${name}`))
  await sessions.started(tenant, { callSid: `CA-${name}`, epoch, streamSid: `MZ-${name}`, model: null, voice: null })
}

async function end(name: string): Promise<void> {
  const set = { ended_at: new Date(Date.UTC(2031, 0, 1)) }
  await test.db.updateTable('voice_sessions').set(set).where('call_sid', '=', `CA-${name}`).execute()
}

async function heardFrom(heartbeatAt: RawBuilder<Date>): Promise<void> {
  await test.db.updateTable('nodes').set({ heartbeat_at: heartbeatAt }).execute()
}

beforeEach(async () => {
  for (const id of ['acme', 'other']) await makeTenant(test.db, id)
  for (const node of [NODE, OTHER_NODE]) await beat(test.db, node, '1.0.0')
  // However slow the machine, it was just now.
  await heardFrom(sql`now() + interval '55 seconds'`)
})

describe('the owner of a call', () => {
  it("is the node that has its stream, for the call's own tenant, until the call is over", async () => {
    await callOn(NODE, 'one')
    await callOn(OTHER_NODE, 'two')
    expect(await findOwner(test.db, acme.tenant_id, 'MZ-one')).toBe(NODE)
    expect(await findOwner(test.db, acme.tenant_id, 'MZ-two')).toBe(OTHER_NODE)
    expect(await findOwner(test.db, other.tenant_id, 'MZ-one')).toBeNull()
    expect(await findOwner(test.db, acme.tenant_id, 'MZ-three')).toBeNull()
    await end('one')
    expect(await findOwner(test.db, acme.tenant_id, 'MZ-one')).toBeNull()
  })
})

describe('the owners of calls', () => {
  it('are the nodes that are alive and have calls of the tenant that are not over, each once', async () => {
    for (const name of ['one', 'two']) await callOn(NODE, name)
    await callOn(OTHER_NODE, 'three')
    await callOn(OTHER_NODE, 'four', other)
    expect((await listOwners(test.db, acme.tenant_id)).sort()).toEqual([NODE, OTHER_NODE])
    expect(await listOwners(test.db, other.tenant_id)).toEqual([OTHER_NODE])
    await end('three')
    expect(await listOwners(test.db, acme.tenant_id)).toEqual([NODE])
    await removeNode(test.db, NODE)
    expect(await listOwners(test.db, acme.tenant_id)).toEqual([])
    expect(await listOwners(test.db, other.tenant_id)).toEqual([OTHER_NODE])
    await heardFrom(sql`now() - interval '6 years'`)
    expect(await listOwners(test.db, other.tenant_id)).toEqual([])
  })
})
