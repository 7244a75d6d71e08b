import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { passing } from '../../../test/harness/passing.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { CallLogRow } from '../../records/call-log-store.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import type { NoRoom } from '../../voice/live-capacity.ts'
import { hasRoomToDial } from '../room-to-dial.ts'
import { type ClaimedContact, makeClaimNext } from './campaign-claim.ts'
import { makeDialContact } from './campaign-dial.ts'
import { makeCampaignRunner } from './campaign-runner.ts'
import { makeCampaigns, type NewCampaign } from './campaigns.ts'

const NUMBER = '+12025550140' as PhoneNumber
const ACCOUNT = { account_sid: 'AC00000000000000000000000000000001', auth_token: 'secret', from_number: NUMBER }
const acme = toRuntime({ tenant_id: 'acme' as TenantId }, ACCOUNT)
const desk: ResolvedAgent = {
  ...{ agentId: null, agentKey: 'desk', versionId: null, versionNumber: null, agentName: 'Desk' },
  config: agentConfigDefaults({}),
}

/** A call that is about to be written down, and its carrier's answer, when they come. */
type Placing = { begin(): Promise<void>; refuse(code: ErrorCode): void }

const DAY_MS = 86_400_000

describe('the pace of a campaign', () => {
  const test = useDatabase()
  const clock = new TestClock()
  const placing: Placing[] = []
  let parts: ReturnType<typeof partsOf>

  /** `noRoom`: what this node says to each that wants room. */
  function partsOf(noRoom: () => NoRoom | null = () => null) {
    const { db } = test
    const resolveAgent = async () => desk
    const capacity = { askToDial: noRoom, ringing: [], rang: () => {} }
    const able = { db, hasModel: true, capacity, expectDiskRoom: async () => {} }
    const dial = makeDialContact({
      ...{ ...able, clock, resolveAgent, log: { error: () => undefined } },
      gate: { opensAt: () => new Date(clock.now()), everOpens: () => true },
      dialing: {
        place(_tenant, _account, { onQueued }) {
          const { promise, reject } = Promise.withResolvers<never>()
          const queued = { id: newId(clock.now()) } as CallLogRow
          placing.push({
            begin: () => db.transaction().execute(async (tx) => onQueued?.(tx, queued)),
            refuse: (code) => reject(new AppError(code, 'It is not called.')),
          })
          return promise
        },
      },
    })
    const campaigns = makeCampaigns({ db, clock, resolveAgent, tenants: { get: async () => acme } })
    const claimNext = makeClaimNext({ db, clock })
    const runner = makeCampaignRunner({
      ...{ db, clock, log: { warn: () => undefined }, tenants: { get: async () => acme }, settle: async () => {} },
      ...{ hasRoom: () => hasRoomToDial(able), claimNext, dialContact: dial },
    })
    return { campaigns, dial, claimNext, runner }
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

  it.each<[what: string, noRoom: (asked: number) => NoRoom | null]>([
    ['has no room', () => 'process_full'],
    ['is found to have none with a claim', (asked: number) => (asked === 1 ? null : 'process_full')],
  ])('is kept by the others while one node %s', async (_what, noRoom) => {
    let asked = 0
    const full = partsOf(() => {
      asked += 1
      return noRoom(asked)
    })
    const nodes = [full.runner, parts.runner]
    onTestFinished(async () => {
      for (const node of nodes) node.stop()
      for (const { refuse } of placing) refuse('submission_unknown')
      for (const node of nodes) await node.close()
    })
    full.runner.start()
    await passing(clock, () => asked >= 2, { what: 'a node without room to look' })
    parts.runner.start()
    const startedMs = clock.now()
    await passing(clock, () => placing.length === 4, { what: 'all to be called', stepMs: 50 })
    expect(clock.now() - startedMs).toBeLessThan(4_500)
  })

  it('is not spent on who is not called', async () => {
    const listed = await calling()
    await clock.advance(100)
    expect(await claim()).toBeNull()
    await listed.refused('dnc_listed')
    expect(await claim()).not.toBeNull()
  })

  it('is over with the last contact where that is refused, though it was paused since that was claimed', async () => {
    for (let others = 0; others < 3; others += 1) {
      const listed = await calling()
      await listed.refused('dnc_listed')
    }
    const last = await calling()
    const { id } = await test.db.selectFrom('campaigns').select('id').executeTakeFirstOrThrow()
    await parts.campaigns.move(acme.tenant_id, id, 'pause')
    await last.refused('dnc_listed')
    const { campaign } = await parts.campaigns.get(acme.tenant_id, id)
    expect(campaign).toMatchObject({ status: 'completed', completed_at: new Date(clock.now()) })
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

  it('is kept by who was about to be called when it was paused and started again', async () => {
    await calling()
    const { id } = await test.db.selectFrom('campaigns').select('id').executeTakeFirstOrThrow()
    for (const move of ['pause', 'start'] as const) await parts.campaigns.move(acme.tenant_id, id, move)
    expect((await claim())?.contact.position).toBe(1)
    await expect(placing[0]?.begin()).rejects.toMatchObject({ name: 'ClaimLost' })
    expect(await claim()).toBeNull()
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

  it.each(['minutes_exhausted', 'budget_exhausted'] as const)(
    'is looked for again each minute where the day is spent (%s), as more may be allowed of it, and as the next one begins',
    async (code) => {
      const noonMs = Math.ceil(clock.now() / DAY_MS) * DAY_MS + DAY_MS / 2
      await clock.advance(noonMs - clock.now())
      await (await calling()).refused(code)
      await clock.advance(59_900)
      expect(await claim()).toBeNull()
      await clock.advance(100)
      await (await calling()).refused(code)
      await clock.advance(noonMs + DAY_MS / 2 - 20_000 - clock.now())
      await (await calling()).refused(code)
      await clock.advance(19_900)
      expect(await claim()).toBeNull()
      await clock.advance(100)
      expect(await claim()).not.toBeNull()
    },
  )
})
