import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { killPrograms } from '../harness/program.ts'
import { scratchFolder } from '../harness/scratch.ts'
import { type Copy, copyTemplate } from '../harness/template.ts'
import { until } from '../harness/wait.ts'
import { NUMBER } from '../kill/service-api.ts'
import { check, stillOpen } from './crash-check.ts'
import { doJob } from './crash-jobs.ts'
import { CrashLedger } from './crash-ledger.ts'
import { parseCrashOptions } from './crash-options.ts'
import { putRollout } from './crash-rollouts.ts'
import { openRows } from './crash-rows.ts'
import { type Stage, type StageServer, startStage } from './crash-stage.ts'
import { crashFaults } from './crash-verdict.ts'
import { POINTS } from './points.ts'
import { SABOTAGES } from './sabotage.ts'
import { listNumber, makeCall, putTenant } from './workloads.ts'

const template = inject('databaseTemplate')
const STARTED_WITHIN_MS = 60_000
/** A service whose loop is late beside other tests takes no calls: callers ring until it does. */
const TALKED_WITHIN_MS = 150_000
const SETTLED_WITHIN_MS = 30_000
/** What is spoilt stays so, however long is waited. */
const SPOILT_MS = 50
/** Undoes all of them. */
const MEND = `
  update dials set state = 'accepted', due_at = created_at;
  update call_directory set look_at = null, rescue_at = null;
  update voice_sessions set ended_at = created_at, end_reason = 'caller_hangup' where ended_at is null;
  update call_logs set status = 'completed';
  delete from recordings;
  delete from transcript_turns where item_id like '%-again';
  delete from webhook_outbox where event = 'copied';
  update agent_version_rollouts set traffic_percentage = 49.99 where position = 1;
  update webhook_outbox set event = replace(event, 'none of ', ''), status = 'delivered', leased_until = null`
const LISTED = '+12025550143'
const INBOUND_TURN = `
  select 1 from transcript_turns turn join voice_sessions session on session.id = turn.session_id
   where session.direction = 'inbound'`
const SESSIONS = `
  select direction, call_status, end_reason, count(*) from voice_sessions group by 1, 2, 3`
const ENDINGS = SABOTAGES.filter(({ spoil }) => spoil !== undefined)

/** On a server: the check looks behind the service's back. */
describe.runIf(template.kind === 'server')('the check after a kill', () => {
  let copy: Copy
  let folder: string
  let server: StageServer
  let stage: Stage

  beforeAll(
    async () => {
      copy = await copyTemplate(template)
      folder = await scratchFolder()
      const makeDatabase = async () => copy.settings['DATABASE_URL'] ?? ''
      server = { makeDatabase, folder: { path: folder, ownProcess: () => {} } }
      stage = await startStage(server, 1)
      await putTenant(stage, 1)
      await putRollout(stage.node.address, stage.rolloutAgent, 1)
      await listNumber(stage, LISTED)
      await callAndDial()
    },
    STARTED_WITHIN_MS + TALKED_WITHIN_MS + SETTLED_WITHIN_MS,
  )
  afterEach(async () => {
    await stage.database.query(MEND)
    await rm(join(stage.installation.dataDir, 'journal', 'nobody-1.log'), { force: true })
    await rm(join(stage.installation.dataDir, 'journal', 'nobody.lock'), { force: true })
  })
  afterAll(async () => {
    await stage.close()
    await killPrograms()
    await copy.remove()
    await rm(folder, { recursive: true })
  })

  /** Somebody calls, somebody is called, and both are over. */
  async function callAndDial(): Promise<void> {
    const { front, carrier, database } = stage
    const addresses = {
      voiceUrl: `${front.url}/api/v1/incoming-call`,
      statusCallback: `${front.url}/api/v1/call-status`,
    }
    await makeCall(stage, 'key', '+12025550142')
    await carrier.ring({ to: NUMBER, calls: 1, everyMs: 100, orders: 1, ...addresses })
    const hasTurns = async () => (await database.query(INBOUND_TURN)).rows.length > 0
    await until(hasTurns, { what: 'a conversation', timeoutMs: TALKED_WITHIN_MS, everyMs: 50 }).catch(async (error) => {
      throw new Error(`Nobody talked: ${JSON.stringify((await database.query(SESSIONS)).rows)}`, { cause: error })
    })
    await carrier.stopRinging()
    const isSettled = async () => {
      await carrier.hangUp()
      return (await openRows(stage)).length === 0
    }
    await until(isSettled, { what: 'the ends of the calls', timeoutMs: SETTLED_WITHIN_MS, everyMs: 50 })
  }

  function ledgerOfNow(): CrashLedger {
    const ledger = new CrashLedger()
    for (const numbers of [ledger.names, ledger.rollouts]) Object.assign(numbers, { tried: 1, acknowledged: 1 })
    ledger.blocked.push(LISTED)
    return ledger
  }

  it('finds nothing when nothing is wrong', async () => {
    const nothing = { lost: [], doubledDials: [], stuck: [], leases: [], debts: [] }
    expect(await check(stage, ledgerOfNow(), SETTLED_WITHIN_MS)).toEqual(nothing)
  })

  it.each(ENDINGS)('finds $name, and says $kind', async ({ kind, spoil }) => {
    const ledger = ledgerOfNow()
    await spoil?.(stage, ledger)
    const found: Record<string, string[]> = await check(stage, ledger, SPOILT_MS)
    expect(found[kind]).not.toEqual([])
    if (kind === 'debts') expect(await stillOpen(stage, found['debts'] ?? [], SPOILT_MS)).toEqual(found['debts'])
  })

  it.each([
    ['start-late', '30', /^a start took \d{5} ms$/],
    ['moment-missed', '1', /^the moment never came$/],
  ])('finds %s in a round', { timeout: 2 * TALKED_WITHIN_MS }, async (sabotage, reach, fault) => {
    // One of the others has dialled twice.
    stage.carrierProxy.asked.length = 0
    const point = POINTS.find(({ name }) => name === 'after-dnc-commit') ?? null
    const options = parseCrashOptions(['--sabotage', sabotage, '--reach', reach, '--again', '0', '--settle', '30'])
    const doing = { server, stage, options, each: () => {} }
    const results = await doJob(doing, { name: 'after-dnc-commit', point, rounds: 1 })
    // A busy machine adds late starts of its own.
    expect(crashFaults(results)).toContainEqual(expect.stringMatching(fault))
    expect(results.map(({ isReached }) => isReached)).toEqual([sabotage === 'start-late'])
  })
})
