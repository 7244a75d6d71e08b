import type { Filters } from '../../components/filters.tsx'

/** Which lines of the log can be asked for. */
export const LOG_FILTERS = ['level', 'q', 'call_sid', 'tenant_id'] as const

/** As they stand in the address. */
export type LogFilters = Filters<(typeof LOG_FILTERS)[number]>
