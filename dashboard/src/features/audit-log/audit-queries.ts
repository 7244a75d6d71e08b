import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api } from '../../api/client.ts'
import { dayStart } from '../../components/filters.tsx'
import type { ListPart } from '../../components/list-part.ts'
import type { AuditFilters, SupervisorFilters } from './audit-filters.ts'

const LOG = '/api/v1/admin/audit-log'
const ACTIONS = '/api/v1/admin/supervisor-actions'

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

/** Something that a supervisor did to a live call. */
export type SupervisorAction = Answer<typeof ACTIONS, 'get'>['actions'][number]

type ActionQuery = NonNullable<paths[typeof ACTIONS]['get']['parameters']['query']>

/** All that a supervisor can do. */
export const SUPERVISOR_ACTIONS = [
  ...(['note', 'whisper', 'say', 'escalate', 'transfer', 'takeover', 'release', 'mute', 'unmute', 'end_call'] as const),
] as const satisfies ActionQuery['action'][]

/** One page of what supervisors did, over all tenants, newest first. What the address says wrongly the service refuses. */
export async function listSupervisorActions(
  filters: SupervisorFilters,
  cursor: string | undefined,
): Promise<ListPart<SupervisorAction>> {
  const query = { ...filters, cursor } as ActionQuery
  const answer = await answerOf(api.GET(ACTIONS, { params: { query } }))
  return { rows: answer.actions, next: answer.next_cursor }
}
