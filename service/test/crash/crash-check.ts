import { until } from '../harness/wait.ts'
import { administer, ask, readSession } from '../kill/service-api.ts'
import { type CrashLedger, doubledDials } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'
import { makeCall } from './workloads.ts'

/** What a kill has spoilt, a sentence each. */
export type Damage = { lost: string[]; doubledDials: string[]; stuck: string[]; leases: string[] }

const FINAL = "('completed', 'busy', 'failed', 'no-answer', 'canceled')"
/** What must not stay as it is once the carrier has no call any more. */
const OPEN = `
  select 'session ' || call_sid as open from voice_sessions where ended_at is null
  union all select 'call ' || coalesce(call_sid, id::text) || ' ' || status from call_logs where status not in ${FINAL}`
const OPEN_DIALS = `select 'dial to ' || dial_ref as open from dials where state in ('dialing', 'unknown')`
/** A lease may end at most so much later. */
const LEASE = "interval '60 seconds'"

/** Gives the service its time and compares what is there with what clients were told. All calls are over already. */
export async function check(stage: Stage, ledger: CrashLedger, settleMs: number): Promise<Damage> {
  const unanswered = await askAgain(stage, ledger)
  const stuck = await settled(stage, settleMs)
  const lost = [...unanswered, ...(await lostCalls(stage, ledger)), ...(await lostSettings(stage, ledger))]
  return { lost, doubledDials: doubledDials(stage.carrierProxy.asked), stuck, leases: await longLeases(stage) }
}

/** Repeats every request that was not answered, as clients do. Whatever it says, it must not dial again. */
async function askAgain(stage: Stage, ledger: CrashLedger): Promise<string[]> {
  const wrong: string[] = []
  for (const [key, { to, callSid }] of ledger.dials) {
    const again = await makeCall(stage, key, to)
    if (callSid !== null && again.callSid !== callSid)
      wrong.push(`make-call ${key} was ${callSid}, is ${again.callSid}`)
  }
  return wrong
}

async function settled({ database, carrier }: Stage, settleMs: number): Promise<string[]> {
  let open: string[] = []
  const { rows } = await database.query("select to_regclass('dials') is not null as has")
  const query = rows[0]?.has ? `${OPEN} union all ${OPEN_DIALS}` : OPEN
  const isSettled = async () => {
    // A call that was dialled meanwhile is answered by somebody who talks for long.
    await carrier.hangUp()
    open = (await database.query<{ open: string }>(query)).rows.map((row) => row.open)
    return open.length === 0
  }
  await until(isSettled, { what: 'all to be settled', timeoutMs: settleMs }).catch(() => {})
  return open
}

async function lostCalls({ node, token, database }: Stage, ledger: CrashLedger): Promise<string[]> {
  const { rows } = await database.query<{ id: string; call_sid: string }>('select id, call_sid from voice_sessions')
  const ids = new Map(rows.map(({ id, call_sid }) => [call_sid, id]))
  const lost: string[] = []
  for (const sid of ledger.streams) {
    const id = ids.get(sid)
    const transcript = id === undefined ? [] : (await readSession(node.address, token, id)).transcript
    const turns = ledger.turns.compare(sid, transcript)
    if (id === undefined) lost.push(`call ${sid}`)
    lost.push(...turns.lost.map((turn) => `turn ${turn}`), ...turns.doubled.map((turn) => `doubled turn ${turn}`))
  }
  const told = [...ledger.dials.values()].flatMap(({ callSid }) => callSid ?? [])
  return [...lost, ...told.filter((sid) => !ids.has(sid)).map((sid) => `dialled call ${sid}`)]
}

async function lostSettings({ node: { address } }: Stage, ledger: CrashLedger): Promise<string[]> {
  const { config } = await administer<{ config: { name?: string } }>(address, 'GET', '')
  const name = Number(config.name ?? 0)
  const lost = ledger.isNamePossible(name) ? [] : [`the name ${ledger.names.acknowledged}: it is ${name}`]
  for (const token of ledger.revoked) {
    const headers = { authorization: `Bearer ${token}` }
    const isTaken = await ask(address, { method: 'GET', path: '/voice-sessions', headers }).then(
      () => true,
      () => false,
    )
    if (isTaken) lost.push('the revocation of a key')
  }
  return lost
}

/** Every column that says until when something is claimed. */
async function longLeases({ database }: Stage): Promise<string[]> {
  const { rows } = await database.query<{ name: string; column: string }>(`
    select table_name as name, column_name as column from information_schema.columns
     where table_schema = 'public' and column_name ~ '^(lease|claimed|locked)_(until|expires_at)$'`)
  const long: string[] = []
  for (const { name, column } of rows) {
    const found = await database.query(`select 1 from "${name}" where "${column}" > now() + ${LEASE} limit 1`)
    if (found.rows.length > 0) long.push(`${name}.${column}`)
  }
  return long
}
