import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { NODE, OTHER_NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeResuming, type Resuming } from './resuming.ts'
import { makeSessions, type NewStream, type Sessions } from './sessions.ts'

const test = useDatabase()
const acme = tenantTold('acme')
const { tenant_id: tenantId } = acme
const STREAM: NewStream = { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: null, voice: null }
const HELD = { tenantId, callSid: 'CA1', epoch: 1 }
let clock: TestClock
let sessions: Sessions
let resuming: Resuming

beforeEach(async () => {
  clock = new TestClock()
  sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  resuming = makeResuming({ db: test.db, clock })
  await makeTenant(test.db, 'acme')
  await sessions.open(acme, someCall('CA1'))
})

describe('a promise', () => {
  it('is of the next epoch, however often it is given, and counts', async () => {
    await sessions.started(acme, STREAM)
    const facts = { epoch: 2, direction: 'inbound', agentVersionId: null }
    expect(await resuming.promise(tenantId, 'CA1')).toEqual({ ...facts, times: 1 })
    await clock.advance(30_000)
    expect(await resuming.promise(tenantId, 'CA1')).toEqual({ ...facts, times: 2 })
    await clock.advance(31_000)
    expect(await resuming.promise(tenantId, 'CA1')).toEqual({ ...facts, times: 1 })
  })

  it('is of the epoch as it is for a call that somebody has claimed from its node', async () => {
    await sessions.started(acme, STREAM)
    await test.db.updateTable('call_directory').set({ epoch: 2, owner: null }).execute()
    expect(await resuming.promise(tenantId, 'CA1')).toMatchObject({ epoch: 2 })
  })

  it('is not given for a call that has not begun, is over, or is not the tenant’s', async () => {
    expect(await resuming.promise(tenantId, 'CA1')).toBeNull()
    await sessions.started(acme, STREAM)
    await makeTenant(test.db, 'globex')
    expect(await resuming.promise(tenantTold('globex').tenant_id, 'CA1')).toBeNull()
    await test.db.updateTable('call_logs').set({ status: 'completed' }).execute()
    expect(await resuming.promise(tenantId, 'CA1')).toBeNull()
  })
})

describe('a call', () => {
  it('is held by its stream until another one is promised, or has come, and again when that does not come', async () => {
    await sessions.started(acme, STREAM)
    expect(await resuming.isHeld(HELD)).toBe(true)
    await resuming.promise(tenantId, 'CA1')
    expect(await resuming.isHeld(HELD)).toBe(false)
    await clock.advance(15_000)
    expect(await resuming.isHeld(HELD)).toBe(true)
    await resuming.promise(tenantId, 'CA1')
    await sessions.started(acme, { ...STREAM, epoch: 2, streamSid: 'MZ2' })
    expect(await resuming.isHeld(HELD)).toBe(false)
    expect(await resuming.isHeld({ ...HELD, epoch: 2 })).toBe(true)
    expect(await resuming.isHeld({ ...HELD, next: [{ epoch: 2, owner: NODE }] })).toBe(true)
  })

  it('is not held by who was about to change to a stream of that epoch, but by the node that has it', async () => {
    await sessions.started(acme, STREAM)
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    await other.started(acme, { ...STREAM, epoch: 2, streamSid: 'MZ2' })
    expect(await resuming.isHeld({ ...HELD, next: [{ epoch: 2, owner: NODE }] })).toBe(false)
    expect(await resuming.isHeld({ ...HELD, next: [{ epoch: 2, owner: null }] })).toBe(false)
  })

  it('that was given away is held by who gave it until somebody has it', async () => {
    await sessions.started(acme, STREAM)
    await test.db.updateTable('call_directory').set({ epoch: 2, owner: null }).execute()
    expect(await resuming.isHeld({ ...HELD, next: [{ epoch: 2, owner: null }] })).toBe(true)
    expect(await resuming.isHeld(HELD)).toBe(false)
  })

  it('that is not known is held by whoever asks', async () => {
    expect(await resuming.isHeld({ ...HELD, callSid: 'CA9' })).toBe(true)
  })
})
