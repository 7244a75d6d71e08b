import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CrashLedger } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'

/**
 * Something that a round must find: the check is worth nothing while it does not. `spoil` is done after the start that follows
 * the kill; `startDelayMs` holds that start up; `isMissed`: the moment does not come. `kind`: what the check has to call it.
 */
export type Sabotage = {
  name: string
  kind: 'lost' | 'doubledDials' | 'stuck' | 'leases' | 'debts' | 'start' | 'moment'
  spoil?: (stage: Stage, ledger: CrashLedger) => Promise<void> | void
  startDelayMs?: number
  isMissed?: boolean
}

const NEVER = 'CA00000000000000000000000000000000'
const NODE = '00000000-0000-7000-8000-000000000000'
const LATE_MS = 10_500

/** Spoils rows of what was done in the round. @throws Error when there are none */
function rows(statement: string): NonNullable<Sabotage['spoil']> {
  return async ({ database }) => {
    const { rowCount } = await database.query(statement)
    if (!rowCount) throw new Error('nothing of this round can be spoilt so: choose another moment')
  }
}

const LAST_CALL = 'call_sid = (select call_sid from voice_sessions order by created_at desc limit 1)'
const LAST_TALK = `call_sid = (select call_sid from voice_sessions join transcript_turns on session_id = id
                               order by created_at desc limit 1)`
const LAST_EVENT = '(select id from webhook_outbox order by created_at desc, id desc limit 1)'
/** One that was delivered, by its row. */
const COPIED_EVENT = `
  insert into webhook_outbox
  select (jsonb_populate_record(source, '{"id": "${NODE}", "event": "copied", "call_sid": null, "sequence": null}')).*
    from webhook_outbox source where id = ${LAST_EVENT}`
const LAST_DIAL = 'dial_ref = (select dial_ref from idempotency_keys order by created_at desc limit 1)'

/** All that there are. */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'name-lost',
    kind: 'lost',
    spoil: (_, { names }) => void Object.assign(names, { tried: names.tried + 1, acknowledged: names.tried + 1 }),
  },
  { name: 'revocation-lost', kind: 'lost', spoil: ({ token }, { revoked }) => void revoked.push(token) },
  { name: 'block-lost', kind: 'lost', spoil: (_, { blocked }) => void blocked.push('+12025559999') },
  {
    name: 'rollout-lost',
    kind: 'lost',
    spoil: (_, { rollouts }) =>
      void Object.assign(rollouts, { tried: rollouts.tried + 1, acknowledged: rollouts.tried + 1 }),
  },
  {
    name: 'rollout-halved',
    kind: 'lost',
    spoil: rows('update agent_version_rollouts set traffic_percentage = traffic_percentage + 1 where position = 1'),
  },
  {
    name: 'delivery-lost',
    kind: 'lost',
    spoil: rows(COPIED_EVENT),
  },
  {
    name: 'delivery-changed',
    kind: 'lost',
    async spoil(stage, ledger) {
      await rows(COPIED_EVENT)(stage, ledger)
      const send = (body: string) =>
        fetch(stage.receiver.url, { method: 'POST', headers: { 'webhook-id': NODE }, body })
      await Promise.all(['One', 'Another one'].map(send))
    },
  },
  {
    name: 'delivery-left',
    kind: 'stuck',
    spoil: rows(`update webhook_outbox set status = 'pending', due_at = 'infinity' where id = ${LAST_EVENT}`),
  },
  {
    name: 'delivery-leased',
    kind: 'leases',
    spoil: rows(`update webhook_outbox set status = 'pending', leased_until = now() + interval '1 hour'
                  where id = ${LAST_EVENT}`),
  },
  {
    name: 'end-untold',
    kind: 'lost',
    spoil: rows(`update webhook_outbox set event = 'none of ' || event where event = 'voice.call.completed'
                    and ${LAST_CALL}`),
  },
  {
    name: 'listing-untold',
    kind: 'lost',
    spoil: rows("update webhook_outbox set event = 'none of ' || event where event = 'dnc.added'"),
  },
  { name: 'call-lost', kind: 'lost', spoil: (_, { streams }) => void streams.add(NEVER) },
  {
    name: 'dial-lost',
    kind: 'lost',
    spoil: (_, { dials }) => void dials.set('key-of-nobody', { to: '+12025559998', callSid: NEVER }),
  },
  {
    name: 'turn-lost',
    kind: 'lost',
    spoil: (_, { turns }) => turns.note(NEVER, [{ seq: 1, role: 'agent', text: 'Never said', start_ms: 0 }]),
  },
  {
    name: 'kept-turn-lost',
    kind: 'lost',
    spoil: (_, { kept }) => void kept.push({ callSid: NEVER, role: 'agent', text: 'Never said' }),
  },
  {
    name: 'turn-doubled',
    kind: 'lost',
    async spoil(stage, ledger) {
      await rows(`insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms,
                                                interrupted)
                  select tenant_id, session_id, item_id || '-again', seq, role, text, unheard, start_ms, end_ms, interrupted
                    from transcript_turns where session_id = (select id from voice_sessions where ${LAST_TALK})`)(
        stage,
        ledger,
      )
      const { rows: calls } = await stage.database.query(`select call_sid from voice_sessions where ${LAST_TALK}`)
      ledger.streams.add(calls[0]?.call_sid)
    },
  },
  {
    name: 'recording-lost',
    kind: 'lost',
    spoil: rows(`insert into recordings (tenant_id, session_id, part, node_id, path, state, started_at, bytes)
                 select tenant_id, id, 98, '${NODE}', 'nowhere.wav', 'ready', now(), 1000 from voice_sessions
                  where ${LAST_CALL}`),
  },
  {
    name: 'dialled-twice',
    kind: 'doubledDials',
    async spoil({ carrierProxy }) {
      const dial = carrierProxy.asked.findLast(({ method, path }) => method === 'POST' && path.endsWith('/Calls.json'))
      if (!dial) throw new Error('nothing was dialled in this round: choose another moment')
      // What the carrier makes of it does not matter: it was asked.
      await fetch(carrierProxy.url + dial.path, { method: 'POST', body: new URLSearchParams(dial.body) })
    },
  },
  {
    name: 'session-open',
    kind: 'stuck',
    spoil: rows(`update voice_sessions set ended_at = null, end_reason = null where ${LAST_CALL}`),
  },
  { name: 'call-open', kind: 'stuck', spoil: rows(`update call_logs set status = 'in-progress' where ${LAST_CALL}`) },
  {
    name: 'look-left',
    kind: 'stuck',
    spoil: rows(`update call_directory set look_at = now() + interval '300 seconds' where ${LAST_CALL}`),
  },
  {
    name: 'rescue-left',
    kind: 'stuck',
    spoil: rows(`update call_directory set rescue_at = now() + interval '59 seconds' where ${LAST_CALL}`),
  },
  {
    name: 'rescue-leased',
    kind: 'leases',
    spoil: rows(`update call_directory set rescue_at = now() + interval '1 hour' where ${LAST_CALL}`),
  },
  {
    name: 'dial-left',
    kind: 'debts',
    spoil: rows(`update dials set state = 'unknown', due_at = 'infinity' where ${LAST_DIAL}`),
  },
  {
    name: 'dial-leased',
    kind: 'leases',
    spoil: rows(`update dials set state = 'dialing', due_at = now() + interval '1 hour' where ${LAST_DIAL}`),
  },
  {
    name: 'recording-left',
    kind: 'debts',
    // Of a node that was heard from: nobody ends it.
    spoil: rows(`insert into recordings (tenant_id, session_id, part, node_id, path, state, started_at)
                 select tenant_id, id, 99, (select node_id from nodes order by heartbeat_at desc limit 1), 'nowhere.wav',
                        'recording', now() from voice_sessions where ${LAST_CALL}`),
  },
  {
    name: 'journal-left',
    kind: 'stuck',
    async spoil({ installation }) {
      await mkdir(join(installation.dataDir, 'journal'), { recursive: true })
      await writeFile(join(installation.dataDir, 'journal', 'nobody-1.log'), '')
    },
  },
  {
    name: 'journal-name-left',
    kind: 'stuck',
    async spoil({ installation }) {
      await mkdir(join(installation.dataDir, 'journal'), { recursive: true })
      await writeFile(join(installation.dataDir, 'journal', 'nobody.lock'), '')
    },
  },
  { name: 'start-late', kind: 'start', startDelayMs: LATE_MS },
  { name: 'moment-missed', kind: 'moment', isMissed: true },
]
