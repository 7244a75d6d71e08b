import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import { NODE, someCall, storedEvents, tenantTold } from './calls.fixture.ts'
import { type Escalations, makeEscalations } from './escalations.ts'
import { makeSessions } from './sessions.ts'

const ACME = 'acme' as TenantId
const GLOBEX = 'globex' as TenantId

const test = useDatabase()
let escalations: Escalations

beforeEach(async () => {
  const clock = new TestClock()
  const tenants = { get: async (id: TenantId) => ([ACME, GLOBEX].includes(id) ? tenantTold(id) : null) }
  escalations = makeEscalations({ db: test.db, clock, tenants })
  for (const id of [ACME, GLOBEX]) await makeTenant(test.db, id)
  await makeSessions({ db: test.db, clock, nodeId: NODE }).open(tenantTold('acme'), someCall('CA1'))
})

const stored = () =>
  test.db.selectFrom('call_logs').select(['escalated', 'escalation_target']).executeTakeFirstOrThrow()

describe('an escalation', () => {
  it('is marked in the log of the call, and told once', async () => {
    await escalations.escalate(ACME, 'CA1', 'the billing team')
    await escalations.escalate(ACME, 'CA1', 'the boss')
    expect(await stored()).toEqual({ escalated: true, escalation_target: 'the boss' })
    const told = (await storedEvents(test.db)).filter(({ event }) => event === 'voice.session.escalated')
    expect(told).toMatchObject([
      {
        call_sid: 'CA1',
        body: {
          payload: {
            call_log: { escalated: true, escalation_target: 'the billing team' },
            voice_session: { call_sid: 'CA1' },
          },
        },
      },
    ])
  })

  it('is of a call that the tenant has', async () => {
    for (const [tenant, callSid] of [
      [ACME, 'CA2'],
      [GLOBEX, 'CA1'],
      ['nobody' as TenantId, 'CA1'],
    ] as const)
      await expect(escalations.escalate(tenant, callSid, null)).rejects.toMatchObject({ code: 'not_found' })
    expect(await stored()).toEqual({ escalated: false, escalation_target: null })
  })
})
