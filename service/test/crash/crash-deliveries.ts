import type { CrashLedger } from './crash-ledger.ts'
import { FINAL } from './crash-rows.ts'
import type { Stage } from './crash-stage.ts'

/** What the stage's tenant wants to be told. */
export const WANTED_EVENTS = [
  ...['voice.call.started', 'voice.call.completed', 'voice.session.completed', 'voice.recording.ready'],
  'dnc.added',
] as const

/** Each call that is over is told so once. */
const ENDS_TOLD = `
  select call_sid, (select count(*)::integer from webhook_outbox told
                     where told.tenant_id = call_logs.tenant_id and told.call_sid = call_logs.call_sid
                       and told.event = 'voice.call.completed') as times
    from call_logs where status in ${FINAL} and call_sid is not null`

const LISTED_TOLD =
  "select body -> 'payload' -> 'entry' ->> 'phone' as phone from webhook_outbox where event = 'dnc.added'"

type Row = { id: string; event: string; status: string }

/**
 * Whether everything that was written down is told: an event for what clients were acknowledged, each delivered as often as
 * its row says at least, and never as two different ones. Rows that wait are `openRows`.
 */
export async function lostDeliveries({ database, receiver }: Stage, ledger: CrashLedger): Promise<string[]> {
  const { rows } = await database.query<Row>("select id, event, status from webhook_outbox where status <> 'pending'")
  const { rows: calls } = await database.query<{ call_sid: string; times: number }>(
    `select * from (${ENDS_TOLD}) ends where times <> 1`,
  )
  const { rows: listed } = await database.query<{ phone: string }>(LISTED_TOLD)
  const phones = new Set(listed.map(({ phone }) => phone))
  const isLost = ({ id, status }: Row) => status === 'failed' || !receiver.delivered.has(id)
  const isTwo = ({ id }: Row) => (receiver.delivered.get(id)?.bodies.size ?? 0) > 1
  return [
    ...rows.filter(isLost).map(({ id, event, status }) => `event ${event} ${id}: ${status}, and never came`),
    ...rows.filter(isTwo).map(({ id, event }) => `event ${event} ${id} came as two`),
    ...calls.map(({ call_sid, times }) => `the end of ${call_sid} is told ${times} times`),
    ...ledger.blocked.filter((phone) => !phones.has(phone)).map((phone) => `the event of ${phone}`),
  ]
}
