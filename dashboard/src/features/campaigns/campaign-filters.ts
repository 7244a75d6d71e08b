import type { Filters } from '../../components/filters.tsx'

/** What the list of campaigns, and that of the contacts of one, can be asked for. */
export const CAMPAIGN_FILTERS = ['status'] as const

/** As they stand in the address. */
export type CampaignFilters = Filters<(typeof CAMPAIGN_FILTERS)[number]>
