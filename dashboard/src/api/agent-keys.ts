import { queryOptions } from '@tanstack/react-query'
import { allRows } from './all-rows.ts'
import { answerOf, api } from './client.ts'

/** As many as a list of choices holds. */
const MOST = 500

/** The keys of a tenant's agents. */
export const agentKeysQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['agent-keys', tenantId],
    queryFn: (): Promise<string[]> =>
      allRows(MOST, async (page) => {
        const params = { path: { tenant_id: tenantId }, query: page }
        const answer = await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}/agents', { params }))
        return { rows: answer.agents.map(({ agent_key }) => agent_key), next: answer.next_cursor }
      }),
  })
