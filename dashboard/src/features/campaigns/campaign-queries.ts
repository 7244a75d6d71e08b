import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'
import type { CampaignFilters } from './campaign-filters.ts'

/** A list of people whom an agent calls, and what has come of it. */
export type Campaign = Answer<'/api/v1/campaigns/{id}', 'get'>['campaign']

/** Somebody whom it calls. */
export type Contact = Answer<'/api/v1/campaigns/{id}/calls', 'get'>['calls'][number]

/** A campaign that was made, and the contacts that were left out of it. */
export type MadeCampaign = Pick<Answer<'/api/v1/campaigns', 'post'>, 'campaign' | 'errors'>

/** What is to be done with a campaign as a whole. */
export type CampaignMove = 'start' | 'pause' | 'cancel'

type Settings = NonNullable<paths['/api/v1/campaigns']['post']['parameters']['query']>
type Status<Path extends '/api/v1/campaigns' | '/api/v1/campaigns/{id}/calls'> = NonNullable<
  paths[Path]['get']['parameters']['query']
>['status']

const REFRESH_MS = 3_000

/** Of all campaigns of a tenant. */
export const campaignsKey = (tenantId: string) => ['campaigns', tenantId]

/** One page of the campaigns, newest first. */
export async function listCampaigns(
  tenantId: string,
  { status }: CampaignFilters,
  cursor: string | undefined,
): Promise<ListPart<Campaign>> {
  const query = { cursor, status: status as Status<'/api/v1/campaigns'> }
  const answer = await answerOf(api.GET('/api/v1/campaigns', { params: { query }, headers: forTenant(tenantId) }))
  return { rows: answer.campaigns, next: answer.next_cursor }
}

/** One of them; it is read again while it calls. */
export const campaignQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: [...campaignsKey(tenantId), id],
    queryFn: async () => {
      const asked = { params: { path: { id } }, headers: forTenant(tenantId) }
      return (await answerOf(api.GET('/api/v1/campaigns/{id}', asked))).campaign
    },
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? REFRESH_MS : false),
  })

/** Whether what is known of it changes by itself: also a paused one may have calls on their way. */
export function isMoving({ status, contacts }: Campaign): boolean {
  return status === 'running' || contacts.dialing > 0
}

/** One page of those whom it calls, the last of the list first. */
export async function listContacts(
  campaign: Campaign,
  { status }: CampaignFilters,
  cursor: string | undefined,
): Promise<ListPart<Contact>> {
  const query = { cursor, status: status as Status<'/api/v1/campaigns/{id}/calls'> }
  const asked = { params: { path: { id: campaign.id }, query }, headers: forTenant(campaign.tenant_id) }
  const answer = await answerOf(api.GET('/api/v1/campaigns/{id}/calls', asked))
  return { rows: answer.calls, next: answer.next_cursor }
}

/** What is sent to make a campaign. */
type NewCampaign = { settings: Settings; csv: string }

/** Makes a draft of a list as CSV, or with the key of an earlier request tells which one that made. */
export function createCampaign(tenantId: string, { settings, csv }: NewCampaign, key: string): Promise<MadeCampaign> {
  const headers = { ...forTenant(tenantId), 'content-type': 'text/csv', 'idempotency-key': key }
  const sent = { body: csv, bodySerializer: () => csv, params: { query: settings }, headers }
  return answerOf(api.POST('/api/v1/campaigns', sent))
}

/** Does it. @throws ApiFailure. */
export async function moveCampaign({ tenant_id, id }: Campaign, move: CampaignMove): Promise<void> {
  const asked = { params: { path: { id } }, headers: forTenant(tenant_id) }
  if (move === 'start') await answerOf(api.POST('/api/v1/campaigns/{id}/start', asked))
  else if (move === 'pause') await answerOf(api.POST('/api/v1/campaigns/{id}/pause', asked))
  else await answerOf(api.POST('/api/v1/campaigns/{id}/cancel', asked))
}
