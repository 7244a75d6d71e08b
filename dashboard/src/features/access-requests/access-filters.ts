import type { Filters } from '../../components/filters.tsx'

/** What the list of access requests can be asked for. */
export const ACCESS_FILTERS = ['status'] as const

/** As they stand in the address. */
export type AccessFilters = Filters<(typeof ACCESS_FILTERS)[number]>
