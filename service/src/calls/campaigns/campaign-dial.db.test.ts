import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { type ClaimedContact, makeClaimNext } from './campaign-claim.ts'
import { makeDialContact } from './campaign-dial.ts'
import { makeCampaigns, type NewCampaign } from './campaigns.ts'

const NUMBER = '+12025550140' as PhoneNumber
const ACCOUNT = { account_sid: 'AC00000000000000000000000000000001', auth_token: 'secret', from_number: NUMBER }
const acme = toRuntime({ tenant_id: 'acme' as TenantId }, ACCOUNT)
const desk: ResolvedAgent = {
  ...{ agentId: null, agentKey: 'desk', versionId: null, versionNumber: null, agentName: 'Desk' },
  config: agentConfigDefaults({}),
}

/** A carrier's answer to the next call, when it comes. */
type Placing = { refuse(code: ErrorCode): void }

describe('the pace of a campaign', () => {
  const test = useDatabase()
  const clock = new TestClock()
  const placing: Placing[] = []
  let parts: ReturnType<typeof partsOf>

  function partsOf() {
    const { db } = test
    const resolveAgent = async () => desk
    const dial = makeDialContact({
      ...{ db, clock, resolveAgent, hasModel: true, log: { error: () => undefined } },
      capacity: { askToDial: () => null, ringing: [], rang: () => {} },
      gate: { opensAt: () => new Date(clock.now()), everOpens: () => true },
      dialing: {
        place() {
          const { promise, reject } = Promise.withResolvers<never>()
          placing.push({ refuse: (code) => reject(new AppError(code, 'It is not called.')) })
          return promise
        },
      },
    })
    const campaigns = makeCampaigns({ db, clock, resolveAgent, tenants: { get: async () => acme } })
    return { campaigns, dial, claimNext: makeClaimNext({ db, clock }) }
  }

  beforeEach(async () => {
    placing.length = 0
    await makeTenant(test.db, 'acme')
    parts = partsOf()
    const wanted: NewCampaign = {
      ...{ name: 'Spring', agentKey: 'desk', from: NUMBER, startAt: null, hours: null, onMachine: null },
      contacts: Array.from({ length: 4 }, (_, n) => ({ at: n + 1, phone: `+1202555200${n}`, metadata: {} })),
      ...{ callsPerSecond: 1, maxConcurrent: 5, maxAttempts: 1, retryMinutes: [30] },
    }
    const { campaign } = await parts.campaigns.create(acme.tenant_id, wanted, null)
    await parts.campaigns.move(acme.tenant_id, campaign.id, 'start')
  })

  async function claim(): Promise<ClaimedContact | null> {
    const campaign = await test.db.selectFrom('campaigns').selectAll().executeTakeFirstOrThrow()
    return parts.claimNext(acme, campaign)
  }

  /** Takes the next contact and has it called, as far as the carrier's answer. */
  async function calling(): Promise<{ refused(code: ErrorCode): Promise<void> }> {
    const claimed = await claim()
    if (!claimed) throw new Error('nobody may be called now')
    const known = placing.length
    const done = parts.dial(acme, claimed)
    await until(() => placing.length > known, { what: 'the call to be placed' })
    return {
      async refused(code) {
        placing[known]?.refuse(code)
        await done
      },
    }
  }

  it('is not spent on who is not called', async () => {
    const listed = await calling()
    await clock.advance(100)
    expect(await claim()).toBeNull()
    await listed.refused('dnc_listed')
    expect(await claim()).not.toBeNull()
  })

  it('is kept towards who was called while another one was being refused', async () => {
    const listed = await calling()
    await clock.advance(1_000)
    await calling()
    await clock.advance(100)
    await listed.refused('dnc_listed')
    expect(await claim()).toBeNull()
    await clock.advance(900)
    expect(await claim()).not.toBeNull()
  })

  it('is not quickened by a refusal while the tenant is busy', async () => {
    const listed = await calling()
    await clock.advance(1_000)
    const busy = await calling()
    await busy.refused('tenant_busy')
    await listed.refused('dnc_listed')
    await clock.advance(4_900)
    expect(await claim()).toBeNull()
    await clock.advance(100)
    expect(await claim()).not.toBeNull()
  })
})
