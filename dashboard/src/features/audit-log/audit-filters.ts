import type { Filters } from '../../components/filters.tsx'

/** What the audit log can be asked for. The days are those of whoever asks. */
export const AUDIT_FILTERS = ['tenant_id', 'actor', 'action', 'target_id', 'first_day', 'last_day'] as const

/** As they stand in the address. */
export type AuditFilters = Filters<(typeof AUDIT_FILTERS)[number]>
