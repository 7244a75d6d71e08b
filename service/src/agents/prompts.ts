import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { etagOf } from '../kernel/etag.ts'
import { newId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { audit } from '../tenancy/audit-log.ts'
import { checkPrecondition, type Precondition } from '../tenancy/tenant-preconditions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { findPrompt, listPrompts, lockPrompt, type PromptRow, removePrompt, writePrompt } from './prompt-store.ts'
import { RecentAnswers } from './recent-answers.ts'

/** What a prompt says, and to whom it is of use. */
type PromptTexts = Pick<PromptRow, 'text' | 'description'>

/** The texts of this installation that tenants' documents name by key. */
export type Prompts = {
  /** Newest first. */
  list(page: PageRequest): Promise<Page<PromptRow>>
  /** @throws AppError `not_found`. */
  get(key: string): Promise<PromptRow>
  /** Creates the prompt or replaces its text. @throws AppError `precondition_failed` when `conditions` do not hold. */
  put(key: string, prompt: PromptTexts, conditions: Precondition, by: Actor): Promise<PromptRow>
  /**
   * The prompt that was deleted; calls of tenants that still name it go on without. @throws AppError `not_found`;
   * `precondition_failed` when it is not that of `ifMatch`.
   */
  remove(key: string, by: Actor, ifMatch?: string): Promise<PromptRow>
  /**
   * The text that a tenant's calls begin with, with its variables open, at most a second old while the database answers; null
   * when its document names none, or one that there is not.
   *
   * @throws AppError `unavailable` for one that was not asked for before while the database does not answer.
   */
  textFor(tenant: TenantRuntime): Promise<string | null>
}

export function makePrompts({ db, clock, log }: { db: Db; clock: Clock; log: Pick<Log, 'warn'> }): Prompts {
  const recent = new RecentAnswers<string>({
    clock,
    onFault: (prompt_key, err) =>
      log.warn({ err, prompt_key }, 'a prompt cannot be read: calls go on with its last known text'),
  })

  async function putIn(tx: Tx, key: string, wanted: Wanted): Promise<PromptRow> {
    const { text, description, by } = wanted
    await lockPrompt(tx, key)
    const before = await findPrompt(tx, key)
    checkPrecondition(wanted, before && promptEtag(before))
    const now = new Date(clock.now())
    const id = newId<string>(now.getTime())
    const written = await writePrompt(tx, { prompt_key: key, id, text, description, created_at: now, updated_at: now })
    const action = before ? 'prompt.changed' : 'prompt.created'
    const told = { before: before && shown(before), after: shown(written), at: now }
    await audit(tx, { by, action, tenantId: null, targetId: key, ...told })
    return written
  }

  return {
    async list(page) {
      const { rows, limit } = await listPrompts(db, page)
      return toPage(rows, limit, ({ created_at: createdAt, id }) => ({ createdAt, id }))
    },
    get: async (key) => (await findPrompt(db, key)) ?? unknownPrompt(),
    put: (key, prompt, conditions, by) =>
      db.transaction().execute((tx) => putIn(tx, key, { ...prompt, ...conditions, by })),
    remove: (key, by, ifMatch) =>
      db.transaction().execute(async (tx) => {
        await lockPrompt(tx, key)
        const removed = (await removePrompt(tx, key)) ?? unknownPrompt()
        checkPrecondition({ ifMatch }, promptEtag(removed))
        const told = { before: shown(removed), at: new Date(clock.now()) }
        await audit(tx, { by, action: 'prompt.deleted', tenantId: null, targetId: key, ...told })
        return removed
      }),
    async textFor({ tenant_id, system_prompt_key: key }) {
      if (key === null) return null
      const text = await recent.get(key, async () => (await findPrompt(db, key))?.text ?? null)
      if (text === null) log.warn({ tenant_id, prompt_key: key }, 'a tenant names a prompt that there is not')
      return text
    },
  }
}

/** What a prompt is to say, on which condition, and who says so. */
type Wanted = PromptTexts & Precondition & { by: Actor }

/** Of what a writer says: the same texts have the same tag. */
export function promptEtag(prompt: PromptRow): string {
  return etagOf(shown(prompt))
}

/** What a writer says of a prompt, and the audit log. */
function shown({ text, description }: PromptRow): PromptTexts {
  return { text, description }
}

function unknownPrompt(): never {
  throw new AppError('not_found', 'There is no such prompt.')
}
