import type { Filters } from '../../components/filters.tsx'

/** What the list can be asked for. */
export const LIST_FILTERS = ['phone'] as const

/** As they stand in the address. */
export type ListFilters = Filters<(typeof LIST_FILTERS)[number]>
