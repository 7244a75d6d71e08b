import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { SessionId } from './call-values.ts'
import { storable } from './storable.ts'
import { addOutcome, type OutcomeChange } from './voice-session-store.ts'

/** Notes the outcomes of conversations. */
export type Outcomes = {
  /**
   * Adds tags to a session, each once, and sets its outcome and notes where they are given. Repeating it changes nothing.
   * Of tags that would be more than 50 in all the rest is left out.
   *
   * @returns all tags of the session, sorted.
   * @throws AppError `not_found` when the tenant has no such session.
   */
  record(tenantId: TenantId, sessionId: SessionId, change: OutcomeChange): Promise<string[]>
}

export function makeOutcomes({ db }: { db: Db }): Outcomes {
  return {
    async record(tenantId, sessionId, { tags, outcome, notes }) {
      const all = await addOutcome(db, tenantId, sessionId, {
        tags: tags.map((tag) => storable(tag).trim()).filter((tag) => tag !== ''),
        outcome: outcome && storable(outcome),
        notes: notes && storable(notes),
      })
      if (!all) throw new AppError('not_found', 'The tenant has no such voice session.')
      return all
    },
  }
}
