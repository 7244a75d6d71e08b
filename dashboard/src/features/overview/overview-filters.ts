import type { Filters } from '../../components/filters.tsx'

/** The range; and, of all tenants, the span that was picked from it. */
export const OVERVIEW_FILTERS = ['range', 'since', 'until'] as const

/** As they stand in the address. */
export type OverviewFilters = Filters<(typeof OVERVIEW_FILTERS)[number]>

/** How far back one looks, and in which spans. */
export const RANGES = [
  { value: '24h', label: '24 hours', days: 1, interval: 'hour' },
  { value: '7d', label: '7 days', days: 7, interval: 'hour' },
  { value: '30d', label: '30 days', days: 30, interval: 'day' },
] as const

/** One of them. */
export type Range = (typeof RANGES)[number]

/** The range that stands in the address, else the first. */
export function rangeIn({ range }: OverviewFilters): Range {
  return RANGES.find(({ value }) => value === range) ?? RANGES[0]
}
