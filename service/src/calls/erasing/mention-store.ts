import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { isInPage, type KeyPage } from './key-page-store.ts'
import type { NumberMention } from './number-mention.ts'

/** What a column holds: words, words that may be JSON, JSON, or a list of words. */
type ColumnKind = 'text' | 'json text' | 'jsonb' | 'json' | 'text[]'

/**
 * A table in whose columns people, models or clients may have written a number; `key` names a row of a tenant, and has an index behind
 * `tenant_id`, by which the table is gone through. `isUndated`: nobody noted when a row was written.
 */
export type MentionTable = { table: string; key: string[]; columns: Record<string, ColumnKind>; isUndated?: boolean }

/**
 * Every table of a tenant with words in it that were written in, of or about its calls. Not here are what the tenant has set up
 * (its document, agents, prompts, routes, people, simulations), the do-not-call list, and what holds no words.
 */
export const MENTION_TABLES: MentionTable[] = [
  {
    table: 'call_logs',
    key: ['id'],
    columns: {
      ...{ escalation_target: 'text', summary: 'text', error_message: 'text' },
      metadata: 'jsonb',
    },
  },
  {
    table: 'voice_sessions',
    key: ['id'],
    columns: {
      ...{ greeting: 'text', summary: 'text', outcome: 'text', outcome_notes: 'text' },
      ...{ qa_reason: 'text', extraction_reason: 'text', tags: 'text[]' },
      ...{ metadata: 'jsonb', extraction: 'jsonb', qa: 'jsonb' },
    },
  },
  {
    ...{ table: 'transcript_turns', key: ['session_id', 'item_id'], isUndated: true },
    columns: { text: 'text', unheard: 'text' },
  },
  {
    ...{ table: 'function_calls', key: ['session_id', 'call_id'], isUndated: true },
    columns: { arguments: 'json text', result: 'json text' },
  },
  { table: 'evaluations', key: ['id'], columns: { summary: 'text', criteria: 'jsonb' } },
  { table: 'dials', key: ['dial_ref'], columns: { greeting: 'text' } },
  {
    table: 'callback_tasks',
    key: ['id'],
    columns: { summary: 'text', notes: 'text', snooze_reason: 'text', metadata: 'jsonb' },
  },
  { table: 'callback_task_changes', key: ['id'], columns: { note: 'text', details: 'jsonb' } },
  {
    table: 'supervisor_actions',
    key: ['id'],
    columns: { target: 'text', reason: 'text', note: 'text', metadata: 'jsonb' },
  },
  { table: 'campaigns', key: ['id'], columns: { name: 'text', status_reason: 'text' } },
  { table: 'campaign_contacts', key: ['id'], columns: { metadata: 'jsonb' } },
  ...['webhook_outbox', 'billing_outbox', 'notification_outbox'].map(
    (table): MentionTable => ({
      ...{ table, key: ['id'] },
      columns: { body: 'json', last_error: 'text', attempt_log: 'jsonb' },
    }),
  ),
  { table: 'audit_log', key: ['id'], columns: { target_id: 'text', before: 'jsonb', after: 'jsonb' } },
]

type Row = Record<string, unknown>

/**
 * Takes the number out of the rows of a page of the tenant's table in which it is mentioned, of those written by `until`.
 *
 * @returns how many rows were changed.
 */
export async function eraseMentions(
  tx: Tx,
  tenantId: TenantId,
  { table, key, columns, isUndated = false }: MentionTable,
  { mention, until, page }: { mention: NumberMention; until: Date; page: KeyPage },
): Promise<number> {
  const names = Object.keys(columns)
  const matches = names.map((name) => sql<boolean>`${sql.ref(name)}::text ~ ${mention.pattern}`)
  const inTime = isUndated ? sql`true` : sql`created_at <= ${until}`
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
