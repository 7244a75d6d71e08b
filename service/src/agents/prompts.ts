import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { findPrompt, listPrompts, type PromptRow, removePrompt, writePrompt } from './prompt-store.ts'
import { RecentAnswers } from './recent-answers.ts'

/** The texts of this installation that tenants' documents name by key. */
export type Prompts = {
  /** Newest first. */
  list(page: PageRequest): Promise<Page<PromptRow>>
  /** @throws AppError `not_found`. */
  get(key: string): Promise<PromptRow>
  /** Creates the prompt or replaces its text. */
  put(key: string, prompt: { text: string; description: string }): Promise<PromptRow>
  /** The prompt that was deleted; calls of tenants that still name it go on without. @throws AppError `not_found`. */
  remove(key: string): Promise<PromptRow>
  /**
   * The text that a tenant's calls begin with, with its variables open, at most a second old while the database answers; null
   * when its document names none, or one that there is not.
   *
   * @throws AppError `unavailable` for one that was not asked for before while the database does not answer.
   */
  textFor(tenant: TenantRuntime): Promise<string | null>
}

export function makePrompts({ db, clock, log }: { db: Db; clock: Clock; log: Pick<Log, 'warn'> }): Prompts {
  const recent = new RecentAnswers<string>({ clock })
  return {
    async list(page) {
      return toPage(await listPrompts(db, page), page.limit, ({ created_at: createdAt, id }) => ({ createdAt, id }))
    },
    get: async (key) => (await findPrompt(db, key)) ?? unknownPrompt(),
    put(key, prompt) {
      const now = new Date(clock.now())
      const id = newId<string>(now.getTime())
      return writePrompt(db, { prompt_key: key, id, ...prompt, created_at: now, updated_at: now })
    },
    remove: async (key) => (await removePrompt(db, key)) ?? unknownPrompt(),
    async textFor({ tenant_id, system_prompt_key: key }) {
      if (key === null) return null
      const text = await recent.get(key, async () => (await findPrompt(db, key))?.text ?? null)
      if (text === null) log.warn({ tenant_id, prompt_key: key }, 'a tenant names a prompt that there is not')
      return text
    },
  }
}

function unknownPrompt(): never {
  throw new AppError('not_found', 'There is no such prompt.')
}
