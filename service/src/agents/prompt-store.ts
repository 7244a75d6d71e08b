import type { PageRequest } from '../kernel/pages.ts'
import { takeLock } from '../platform/db/advisory-locks.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

/** A text that tenants' documents name by its key. */
export type PromptRow = {
  prompt_key: string
  /** Places it in lists. */
  id: string
  text: string
  description: string
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    prompts: PromptRow
  }
}

/** Makes this transaction the only one that writes this prompt until it ends, also when there is none yet. */
export async function lockPrompt(tx: Tx, key: string): Promise<void> {
  await takeLock(tx, 'prompt', key)
}

export async function findPrompt(db: Db, key: string): Promise<PromptRow | null> {
  const row = await db.selectFrom('prompts').selectAll().where('prompt_key', '=', key).executeTakeFirst()
  return row ?? null
}

/** A page of them, newest first. */
export function listPrompts(db: Db, page: PageRequest): Promise<FittingRows<PromptRow>> {
  const query = db.selectFrom('prompts').selectAll().$call(newestFirst('prompts', page))
  return fittingRows(db, query, ['text', 'description'], page.limit)
}

/** Creates the prompt or writes its text anew; its id and the time of its making stay. */
export function writePrompt(db: Db, prompt: PromptRow): Promise<PromptRow> {
  const { text, description, updated_at } = prompt
  return db
    .insertInto('prompts')
    .values(prompt)
    .onConflict((conflict) => conflict.column('prompt_key').doUpdateSet({ text, description, updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The prompt that was removed; null when there was none. */
export async function removePrompt(db: Db, key: string): Promise<PromptRow | null> {
  const row = await db.deleteFrom('prompts').where('prompt_key', '=', key).returningAll().executeTakeFirst()
  return row ?? null
}
