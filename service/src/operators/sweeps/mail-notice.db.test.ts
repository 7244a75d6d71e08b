import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import { makeNotify } from '../../delivery/notify.ts'
import type { TenantId, UserId } from '../../kernel/ids.ts'
import { insertUser } from '../../tenancy/user-store.ts'
import { claim } from '../callback-task-moves.ts'
import { sweepFollowUps } from './follow-up-sweep.ts'
import { mailOperators } from './mail-notice.ts'
import { ACME, sweepBench } from './sweeps.fixture.ts'

const GLOBEX = 'globex' as TenantId
const MINUTE_MS = 60_000
const ANN = 'ann@example.com'
const ASK = { tenantId: null, limitRows: 10, emitWebhooks: false, sendNotifications: true }

const test = useDatabase()
let clock = new TestClock()
const { desk, known, create, setQueue } = sweepBench(test, () => clock)
const sweep = (hasMail = true) => {
  const notify = mailOperators(makeNotify({ recipients: hasMail ? ['ops@example.com'] : null }))
  return sweepFollowUps({ ...known(), notify }, ASK)
}
const mails = async () => {
  const rows = await test.db.selectFrom('notification_outbox').select(['event', 'body']).execute()
  return rows.map(({ event, body }) => ({ event, ...(body as object as { to: string; text: string }) }))
}

beforeEach(async () => {
  clock = new TestClock()
  for (const id of [ACME, GLOBEX]) await makeTenantWithToken(test.db, id)
})

async function person(tenant: TenantId): Promise<void> {
  const now = new Date(clock.now())
  await test.db.transaction().execute((tx) =>
    insertUser(tx, tenant, {
      ...{ id: '0190b000-0000-7000-8000-000000000077' as UserId, email: ANN, name: 'Ann', role: 'operator' },
      ...{ password_hash: null, invitation_hash: null, invitation_ends_at: null, last_login_at: null },
      ...{ created_at: now, updated_at: now },
    }),
  )
}

async function claimed(operator: string) {
  const { id } = await create({ sla_due_at: new Date(clock.now() + 10_000 * MINUTE_MS), summary: 'A secret.' })
  await desk().move(ACME, id, (now) => claim(operator, now))
  await clock.advance(15 * MINUTE_MS)
  return id
}

describe('a mail to operators', () => {
  it('goes to a person of the tenant, at their own address', async () => {
    await person(ACME)
    const id = await claimed('Ann@Example.com')
    expect(await sweep()).toMatchObject({ notifications_sent: 1 })
    const [mail, ...others] = await mails()
    expect(others).toEqual([])
    expect(mail).toMatchObject({ event: 'operator_queue.follow_up_due', to: 'Ann@Example.com' })
    expect(mail?.text).toContain(id)
    for (const secret of ['A secret.', '+12025550101']) expect(JSON.stringify(mail)).not.toContain(secret)
  })

  it('goes to the installation for everybody else: tenants have us write to nobody they name', async () => {
    await person(GLOBEX)
    await claimed(ANN)
    await setQueue({ escalation_target: 'victim@example.org', queue_key: 'sales' })
    await create({ queue_key: 'sales', sla_due_at: new Date(clock.now() - 61 * MINUTE_MS) })
    expect(await sweep()).toMatchObject({ notifications_sent: 2 })
    const told = await mails()
    expect(told.map(({ event, to }) => [event, to]).toSorted()).toEqual([
      ['operator_queue.escalated', 'ops@example.com'],
      ['operator_queue.follow_up_due', 'ops@example.com'],
    ])
    expect(JSON.stringify(told)).toContain('victim@example.org')
  })

  it('is not written down where there is no mail', async () => {
    await claimed(ANN)
    expect(await sweep(false)).toMatchObject({ notifications_sent: 0 })
    expect(await mails()).toEqual([])
  })
})
