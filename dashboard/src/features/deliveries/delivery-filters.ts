import type { Filters } from '../../components/filters.tsx'

/** What the list of deliveries can be asked for. The days are those of whoever asks. */
export const DELIVERY_FILTERS = ['status', 'event', 'call_sid', 'first_day', 'last_day'] as const

/** As they stand in the address. */
export type DeliveryFilters = Filters<(typeof DELIVERY_FILTERS)[number]>
