import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import { dayStart } from '../../components/filters.tsx'
import type { ListPart } from '../../components/list-part.ts'
import type { AuditFilters } from './audit-filters.ts'

const LOG = '/api/v1/admin/audit-log'

/** Something that was changed. */
export type AuditEntry = Answer<typeof LOG, 'get'>['entries'][number]

/** One page of what was changed, newest first. */
export async function listEntries(
  { first_day: first, last_day: last, ...filters }: AuditFilters,
  cursor: string | undefined,
): Promise<ListPart<AuditEntry>> {
  const days = { created_after: dayStart(first), created_before: dayStart(last, 1) }
  const answer = await answerOf(api.GET(LOG, { params: { query: { ...filters, ...days, cursor } } }))
  return { rows: answer.entries, next: answer.next_cursor }
}
