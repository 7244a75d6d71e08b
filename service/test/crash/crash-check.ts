import { until } from '../harness/wait.ts'
import { administer, ask, readSession } from '../kill/service-api.ts'
import { lostDeliveries } from './crash-deliveries.ts'
import { type CrashLedger, doubledDials } from './crash-ledger.ts'
import { readRollout, rolloutFaults } from './crash-rollouts.ts'
import { longLeases, lostRecordings, openRows } from './crash-rows.ts'
import type { Stage } from './crash-stage.ts'
import { makeCall } from './workloads.ts'

/** What a kill has spoilt, a sentence each. `debts`: rows that the service waits with on purpose, to be looked at later. */
export type Damage = { lost: string[]; doubledDials: string[]; stuck: string[]; leases: string[]; debts: string[] }

const LOOK_MS = 100

/** Gives the service its time and compares what is there with what clients were told. All calls are over already. */
export async function check(stage: Stage, ledger: CrashLedger, settleMs: number): Promise<Damage> {
  const unanswered = await askAgain(stage, ledger)
  const { stuck, debts } = await settled(stage, settleMs)
  const leases = await longLeases(stage)
  const lost = [
    ...unanswered,
    ...(await lostCalls(stage, ledger)),
    ...(await lostSettings(stage, ledger)),
    ...(await lostRecordings(stage)),
    ...(await lostDeliveries(stage, ledger)),
  ]
  return { lost, doubledDials: doubledDials(stage.carrierProxy.asked), stuck, leases, debts }
}

/** Waits until nothing of these is open any more; returns what is. */
export async function stillOpen(stage: Stage, debts: readonly string[], settleMs: number): Promise<string[]> {
  let open: string[] = []
  const isSettled = async () => {
    await stage.carrier.hangUp()
    const rows = new Set((await openRows(stage)).map(({ what }) => what))
    open = debts.filter((what) => rows.has(what))
    return open.length === 0
  }
  await until(isSettled, { what: 'what takes longer', timeoutMs: settleMs, everyMs: LOOK_MS }).catch(() => {})
  return open
}

async function settled(stage: Stage, settleMs: number): Promise<{ stuck: string[]; debts: string[] }> {
  let rows = await openRows(stage)
  const isSettled = async () => {
    // A call that was dialled meanwhile is answered by somebody who talks for long.
    await stage.carrier.hangUp()
    rows = await openRows(stage)
    return rows.every(({ isSlow }) => isSlow)
  }
  await until(isSettled, { what: 'all to be settled', timeoutMs: settleMs, everyMs: LOOK_MS }).catch(() => {})
  const { slow = [], stuck = [] } = Object.groupBy(rows, ({ isSlow }) => (isSlow ? 'slow' : 'stuck'))
  return { stuck: stuck.map(({ what }) => what), debts: slow.map(({ what }) => what) }
}

/** Repeats every request, as clients do that were not answered. Whatever it says, it must not dial again. */
async function askAgain(stage: Stage, ledger: CrashLedger): Promise<string[]> {
  const wrong: string[] = []
  for (const [key, { to, callSid }] of ledger.dials) {
    const again = await makeCall(stage, key, to)
    if (callSid !== null && again.callSid !== callSid)
      wrong.push(`make-call ${key} was ${callSid}, is ${again.callSid}, answered with ${again.status}`)
  }
  return wrong
}

async function lostCalls({ node, token, database }: Stage, ledger: CrashLedger): Promise<string[]> {
  const { rows } = await database.query<{ id: string; call_sid: string }>('select id, call_sid from voice_sessions')
  const ids = new Map(rows.map(({ id, call_sid }) => [call_sid, id]))
  const lost: string[] = []
  for (const sid of new Set([...ledger.streams, ...ledger.turns.calls, ...ledger.kept.map(({ callSid }) => callSid)])) {
    const id = ids.get(sid)
    const transcript = id === undefined ? [] : (await readSession(node.address, token, id)).transcript
    const turns = ledger.turns.compare(sid, transcript)
    if (id === undefined) lost.push(`call ${sid}`)
    lost.push(...turns.lost.map((turn) => `turn ${turn}`), ...turns.doubled.map((turn) => `doubled turn ${turn}`))
    const kept = ledger.kept.filter(({ callSid }) => callSid === sid)
    const isThere = ({ role, text }: (typeof kept)[number]) =>
      transcript.some((turn) => turn.role === role && (turn.text.startsWith(text) || text.startsWith(turn.text)))
    lost.push(...kept.filter((turn) => !isThere(turn)).map(({ role, text }) => `kept turn ${sid} ${role}: ${text}`))
  }
  const told = [...ledger.dials.values()].flatMap(({ callSid }) => callSid ?? [])
  return [...lost, ...told.filter((sid) => !ids.has(sid)).map((sid) => `dialled call ${sid}`)]
}

async function lostSettings(stage: Stage, ledger: CrashLedger): Promise<string[]> {
  const { token: own, rolloutAgent } = stage
  const { address } = stage.node
  const { config } = await administer<{ config: { name?: string } }>(address, 'GET', '')
  const name = Number(config.name ?? 0)
  const lost = ledger.isNamePossible(name) ? [] : [`the name ${ledger.names.acknowledged}: it is ${name}`]
  const isAnswered = (path: string, token: string) =>
    ask(address, { method: 'GET', path, headers: { authorization: `Bearer ${token}` } }).then(
      () => true,
      () => false,
    )
  for (const token of ledger.revoked) {
    if (await isAnswered('/voice-sessions', token)) lost.push('the revocation of a key')
  }
  for (const phone of ledger.blocked) {
    if (!(await isAnswered(`/dnc/${encodeURIComponent(phone)}`, own)))
      lost.push(`the number ${phone}, not to be called`)
  }
  return [...lost, ...rolloutFaults(rolloutAgent, await readRollout(address, rolloutAgent), ledger.rollouts)]
}
