import { sql } from 'kysely'
import { OUTBOX_TABLES } from '../../delivery/outbox-store.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { isInPage, type KeyPage } from './key-page-store.ts'
import type { NumberMention } from './number-mention.ts'
import { CALL_OF, type CallOfRow, type Dated, isInTime, type NumberSubject } from './number-subject-store.ts'

/** What a column holds: words, words that may be JSON, JSON, or a list of words. */
type ColumnKind = 'text' | 'json text' | 'jsonb' | 'json' | 'text[]'

/**
 * A table in whose columns people, models or clients may have written a number; `key` names a row of a tenant, and has an index behind
 * `tenant_id`, by which the table is gone through.
 */
export type MentionTable = Dated & { table: string; key: string[]; columns: Record<string, ColumnKind> }

const BY_SESSION: CallOfRow = { by: 'voice_session_id', is: sql`session_id` }
const BY_CALL: CallOfRow = { by: 'call_sid', is: sql`call_sid` }
const BY_TASK: CallOfRow = {
  by: 'call_sid',
  is: sql`(select task.call_sid from callback_tasks task
            where task.tenant_id = callback_task_changes.tenant_id and task.id = callback_task_changes.task_id)`,
}

/**
 * Every table of a tenant with words in it that were written in, of or about its calls. Not here are what the tenant has set up
 * (its document, agents, prompts, routes, people, simulations), the do-not-call list, and what holds no words.
 */
export const MENTION_TABLES: MentionTable[] = [
  {
    table: 'call_logs',
    key: ['id'],
    call: { by: 'id', is: sql`id` },
    columns: {
      ...{ escalation_target: 'text', summary: 'text', error_message: 'text' },
      metadata: 'jsonb',
    },
  },
  {
    table: 'voice_sessions',
    key: ['id'],
    call: { by: 'voice_session_id', is: sql`id` },
    columns: {
      ...{ greeting: 'text', summary: 'text', outcome: 'text', outcome_notes: 'text' },
      ...{ qa_reason: 'text', extraction_reason: 'text', tags: 'text[]' },
      ...{ metadata: 'jsonb', extraction: 'jsonb', qa: 'jsonb' },
    },
  },
  {
    ...{ table: 'transcript_turns', key: ['session_id', 'item_id'], call: BY_SESSION, isUndated: true },
    columns: { text: 'text', unheard: 'text' },
  },
  {
    ...{ table: 'function_calls', key: ['session_id', 'call_id'], call: BY_SESSION, isUndated: true },
    columns: { arguments: 'json text', result: 'json text' },
  },
  { table: 'evaluations', key: ['id'], columns: { summary: 'text', criteria: 'jsonb' } },
  { table: 'dials', key: ['dial_ref'], call: { by: 'id', is: sql`call_log_id` }, columns: { greeting: 'text' } },
  {
    table: 'callback_tasks',
    key: ['id'],
    call: CALL_OF.task,
    columns: { summary: 'text', notes: 'text', snooze_reason: 'text', metadata: 'jsonb' },
  },
  { table: 'callback_task_changes', key: ['id'], call: BY_TASK, columns: { note: 'text', details: 'jsonb' } },
  {
    table: 'supervisor_actions',
    key: ['id'],
    call: BY_CALL,
    columns: { target: 'text', reason: 'text', note: 'text', metadata: 'jsonb' },
  },
  { table: 'campaigns', key: ['id'], columns: { name: 'text', status_reason: 'text' } },
  { table: 'campaign_contacts', key: ['id'], call: CALL_OF.contact, columns: { metadata: 'jsonb' } },
  ...OUTBOX_TABLES.map(
    (table): MentionTable => ({
      ...{ table, key: ['id'], call: BY_CALL },
      columns: { body: 'json', last_error: 'text', attempt_log: 'jsonb' },
    }),
  ),
  { table: 'audit_log', key: ['id'], columns: { target_id: 'text', before: 'jsonb', after: 'jsonb' } },
]

type Row = Record<string, unknown>

/**
 * Takes the number out of the rows of a page of the tenant's table in which it is mentioned, of those written in time.
 *
 * @returns how many rows were changed.
 */
export async function eraseMentions(
  tx: Tx,
  tenantId: TenantId,
  { table, key, columns, ...dated }: MentionTable,
  { mention, subject, page }: { mention: NumberMention; subject: NumberSubject; page: KeyPage },
): Promise<number> {
  const names = Object.keys(columns)
  const matches = names.map((name) => sql<boolean>`${sql.ref(name)}::text ~ ${mention.pattern}`)
  const inTime = isInTime(tenantId, subject, dated)
  const { rows } = await sql<Row>`
    select ${sql.join([...key, ...names].map((name) => sql.ref(name)))} from ${sql.table(table)}
     where tenant_id = ${tenantId} and ${isInPage({ key }, page)} and ${inTime} and (${sql.join(matches, sql` or `)})
       for update`.execute(tx)
  let changed = 0
  for (const row of rows) {
    const clean = names.flatMap((name) => cleaned(name, columns[name] ?? 'text', { value: row[name], mention }))
    if (clean.length === 0) continue
    const same = key.map((name) => sql<boolean>`${sql.ref(name)} = ${row[name]}`)
    await sql`
      update ${sql.table(table)} set ${sql.join(clean)}
       where tenant_id = ${tenantId} and ${sql.join(same, sql` and `)}`.execute(tx)
    changed += 1
  }
  return changed
}

/** `column = value`, where the number was in it. */
function cleaned(name: string, kind: ColumnKind, { value, mention }: { value: unknown; mention: NumberMention }) {
  if (value === null || value === undefined) return []
  if (kind === 'json text') {
    if (typeof value !== 'string') return []
    const text = mention.withoutInJson(value)
    return text === value ? [] : [sql`${sql.ref(name)} = ${text}`]
  }
  const clean = mention.without(value)
  if (JSON.stringify(clean) === JSON.stringify(value)) return []
  switch (kind) {
    case 'jsonb':
      return [sql`${sql.ref(name)} = ${JSON.stringify(clean)}::jsonb`]
    case 'json':
      return [sql`${sql.ref(name)} = ${JSON.stringify(clean)}::json`]
    default:
      return [sql`${sql.ref(name)} = ${clean}`]
  }
}
