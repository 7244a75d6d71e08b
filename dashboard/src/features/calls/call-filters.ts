import type { Filters } from '../../components/filters.tsx'

/** What the list of calls can be asked for. The days are those of whoever asks; `since` and `until` are instants, the campaign stands there by its id, and `without_agent` is `true`. */
export const CALL_FILTERS = [
  ...([
    'status',
    'direction',
    'agent_key',
    'from',
    'to',
    'first_day',
    'last_day',
    'since',
    'until',
    'campaign_id',
    'without_agent',
  ] as const),
] as const

/** As they stand in the address. */
export type CallFilters = Filters<(typeof CALL_FILTERS)[number]>

/** What conversations can be asked for; `q` is what was said in them. The days are those of whoever asks. */
export const CONVERSATION_FILTERS = [
  ...(['q', 'end_reason', 'tag', 'agent_key', 'from', 'to', 'first_day', 'last_day'] as const),
] as const

/** As they stand in the address. */
export type ConversationFilters = Filters<(typeof CONVERSATION_FILTERS)[number]>
