import { queryOptions } from '@tanstack/react-query'
import { answerOf, api } from './client.ts'

/** As many as a list of choices holds. */
const MOST = 500

/** The keys of a tenant's agents. */
export const agentKeysQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['agent-keys', tenantId],
    queryFn: async (): Promise<string[]> => {
      const params = { path: { tenant_id: tenantId }, query: { limit: MOST } }
      const { agents } = await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}/agents', { params }))
      return agents.map(({ agent_key }) => agent_key)
    },
  })
