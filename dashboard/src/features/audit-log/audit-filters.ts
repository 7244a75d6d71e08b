import type { Filters } from '../../components/filters.tsx'

/** What the audit log can be asked for. The days are those of whoever asks. */
export const AUDIT_FILTERS = ['tenant_id', 'actor', 'action', 'target_id', 'first_day', 'last_day'] as const

/** As they stand in the address. */
export type AuditFilters = Filters<(typeof AUDIT_FILTERS)[number]>

/** What the actions of supervisors can be asked for. */
export const SUPERVISOR_FILTERS = ['tenant_id', 'action', 'stream_sid'] as const

/** As they stand in the address. */
export type SupervisorFilters = Filters<(typeof SUPERVISOR_FILTERS)[number]>
