import type { Filters } from '../../components/filters.tsx'

/** What the list of tasks can be asked for. */
export const DESK_FILTERS = ['status', 'priority', 'queue_key', 'assigned_to', 'customer_phone', 'disposition'] as const

/** As they stand in the address. */
export type DeskFilters = Filters<(typeof DESK_FILTERS)[number]>
