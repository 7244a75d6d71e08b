import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { STORED_HEADER_BYTES } from '../../src/records/recording-wav.ts'
import type { Stage } from './crash-stage.ts'

/**
 * Something that must not stay as it is once the carrier has no call any more. `isSlow`: the service waits on purpose before it
 * puts it in order (two minutes until a carrier that knows nothing of a call is believed, half a minute until a node that
 * records is gone, a minute until what a dead process was delivering is anybody's).
 */
export type OpenRow = { what: string; isSlow: boolean }

/** Statuses of calls that nothing follows. */
export const FINAL = "('completed', 'busy', 'failed', 'no-answer', 'canceled')"

/** Everything that says of itself that somebody has still to do something. */
const OPEN = `
  with doubt as (select * from dials where state in ('dialing', 'unknown'))
  select 'session ' || call_sid as what, false as "isSlow" from voice_sessions where ended_at is null
  union all select 'call ' || coalesce(call_sid, id::text) || ' ' || status,
                   exists (select from doubt where doubt.call_log_id = call_logs.id)
              from call_logs where status not in ${FINAL}
  union all select 'dial to ' || dial_ref, true from doubt
  union all select 'idempotency key ' || key, true from idempotency_keys join doubt using (dial_ref)
  union all select 'look at ' || call_sid, false from call_directory where look_at is not null
  union all select 'rescue of ' || call_sid, false from call_directory where rescue_at is not null
  union all select 'recording ' || session_id || ' ' || part, true from recordings where state = 'recording'
  union all select 'delivery of ' || event || ' ' || id, leased_until is not null from webhook_outbox
             where status = 'pending'`

/** A claim may not keep others away for longer. */
const LEASES = `
  select 'dials.due_at of ' || dial_ref as what from dials
   where state in ('dialing', 'unknown') and due_at > now() + interval '60 seconds'
  union all select 'call_directory.rescue_at of ' || call_sid from call_directory
   where rescue_at > now() + interval '60 seconds'
  union all select 'call_directory.look_at of ' || call_sid from call_directory
   where look_at > now() + interval '301 seconds'
  union all select 'webhook_outbox.leased_until of ' || id from webhook_outbox
   where status = 'pending' and leased_until > now() + interval '60 seconds'`

/** What is open now, in the tables and in the journal's files. */
export async function openRows({ database, installation }: Stage): Promise<OpenRow[]> {
  const { rows } = await database.query<OpenRow>(OPEN)
  return [...rows, ...(await journalFiles(installation.dataDir)).map((what) => ({ what, isSlow: false }))]
}

/** Claims that are too long. */
export async function longLeases({ database }: Stage): Promise<string[]> {
  return (await database.query<{ what: string }>(LEASES)).rows.map(({ what }) => what)
}

/** Files of entries, and names of more processes than the one that lives. */
async function journalFiles(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'journal')).catch(() => [])
  const locks = names.filter((name) => name.endsWith('.lock')).slice(1)
  return [...names.filter((name) => name.endsWith('.log')), ...locks].map((name) => `journal file ${name}`)
}

type Part = { name: string; path: string; state: string; bytes: number | null }

/** Parts of recordings whose row says otherwise than their file. */
export async function lostRecordings({ database, installation }: Stage): Promise<string[]> {
  const { rows } = await database.query<Part>(
    "select session_id || ' ' || part as name, path, state, bytes from recordings where state <> 'recording'",
  )
  const lost = await Promise.all(
    rows.map(async ({ name, path, state, bytes }) => {
      const file = await stat(join(installation.dataDir, 'recordings', path)).catch(() => null)
      const isKept = state === 'lost' ? (file?.size ?? 0) <= STORED_HEADER_BYTES : (file?.size ?? 0) >= (bytes ?? 0)
      return isKept ? [] : [`recording ${name}: ${state}, ${file?.size} of ${bytes} bytes`]
    }),
  )
  return lost.flat()
}
