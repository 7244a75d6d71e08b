import { type SqlBool, sql } from 'kysely'
import { newId } from '../../../kernel/ids.ts'
import { type PhoneNumber, phoneNumberOf } from '../../../kernel/phone.ts'
import type { Tx } from '../schema.ts'

type ListedNumber = { tenant_id: string; id: string; phone: string; created_at: Date }
type Spelling = Pick<ListedNumber, 'tenant_id' | 'id'> & { newId: string; phone: PhoneNumber }

const PAGE_ROWS = 1_000
const IS_LIVE = sql<SqlBool>`status in ('open', 'claimed', 'snoozed', 'dispatching')`

/**
 * Lists every number that was listed with a prefix of its country without it, too, for all tenants: so it is called, and asked for.
 * The entry that there is stays, and one that there is already of the other spelling. Nobody is told: the number was listed before.
 */
export async function addSpellingsAcrossTenants(tx: Tx): Promise<void> {
  let after: ListedNumber | null = null
  do {
    const page: ListedNumber[] = await listNumbers(tx, after)
    const missing = page.flatMap(({ tenant_id, id, phone, created_at }) => {
      const number = phoneNumberOf(phone)
      return number === null || number === phone
        ? []
        : [{ tenant_id, id, newId: newId(created_at.getTime()), phone: number }]
    })
    if (missing.length > 0) await insertSpellings(tx, missing)
    after = page.length < PAGE_ROWS ? null : (page.at(-1) ?? null)
  } while (after)
}

/**
 * Writes the numbers of the tasks that are not over without a prefix of their country, for all tenants: so the calls of a number know
 * its tasks. Nobody is told: it is the same number.
 */
export async function respellTasksAcrossTenants(tx: Tx): Promise<void> {
  const { rows } = await sql<{ phone: string }>`
    select distinct customer_phone as phone from callback_tasks where ${IS_LIVE}`.execute(tx)
  const spellings = rows.flatMap(({ phone }) => {
    const number = phoneNumberOf(phone)
    return number === null || number === phone ? [] : [{ kept: phone, number }]
  })
  if (spellings.length > 0) await respellTasks(tx, spellings)
}

/** All tasks are gone through once, however many numbers there are. */
async function respellTasks(tx: Tx, spellings: { kept: string; number: PhoneNumber }[]): Promise<void> {
  await sql`
    update callback_tasks set customer_phone = spelling.number
      from jsonb_to_recordset(${JSON.stringify(spellings)}::jsonb) as spelling (kept text, number text)
     where customer_phone = spelling.kept and ${IS_LIVE}`.execute(tx)
}

/** By tenant and id, after one of them. */
async function listNumbers(tx: Tx, after: ListedNumber | null): Promise<ListedNumber[]> {
  const isBehind = after ? sql<SqlBool>`(tenant_id, id) > (${after.tenant_id}, ${after.id}::uuid)` : sql<SqlBool>`true`
  const { rows } = await sql<ListedNumber>`
    select tenant_id, id, phone, created_at
      from do_not_call
     where ${isBehind}
     order by tenant_id, id limit ${PAGE_ROWS}`.execute(tx)
  return rows
}

/** An entry that is gone meanwhile has no other spelling. */
async function insertSpellings(tx: Tx, spellings: Spelling[]): Promise<void> {
  await sql`
    insert into do_not_call (tenant_id, id, phone, reason, source, created_at)
    select entry.tenant_id, spelling."newId", spelling.phone, entry.reason, entry.source, entry.created_at
      from jsonb_to_recordset(${JSON.stringify(spellings)}::jsonb)
           as spelling (tenant_id text, id uuid, "newId" uuid, phone text)
      join do_not_call entry on entry.tenant_id = spelling.tenant_id and entry.id = spelling.id
       for key share of entry
        on conflict (tenant_id, phone) do nothing`.execute(tx)
}
