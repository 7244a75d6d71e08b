import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTenantNames } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Buttons } from '../../components/fields.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { RunButton } from '../../components/run-button.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
import {
  type CachedTenant,
  type CredentialUse,
  cachedQuery,
  cacheQuery,
  DIAGNOSTICS_KEY,
  evictIdle,
  reloadCached,
  usesQuery,
} from './diagnostics-queries.ts'

const IDLE_SECONDS = 300

/** The tenants in memory of the node that answers. */
export function CachePanel() {
  const metrics = useQuery(cacheQuery)
  const cached = useQuery(cachedQuery)
  const uses = useQuery(usesQuery)
  const client = useQueryClient()
  const nameOf = useTenantNames()
  const reread = () => client.invalidateQueries({ queryKey: DIAGNOSTICS_KEY })

  async function reload(): Promise<string> {
    const { attempted, reloaded, failures } = await reloadCached()
    await reread()
    const failed = failures.map(({ tenant_id, error }) => `${nameOf(tenant_id)}: ${error}`)
    return [`${reloaded} of ${attempted} read again.`, ...failed].join(' ')
  }

  async function evict(): Promise<string> {
    const { evicted, remaining } = await evictIdle(IDLE_SECONDS)
    await reread()
    return `${evicted} forgotten, ${remaining} left.`
  }

  return (
    <>
      <ReadPanel title="Tenants in memory" aside="Of the node that answers" query={metrics}>
        {({ cache_entries: entries, hits, misses, reloads, evictions }) => (
          <>
            <Facts
              facts={[
                ['Tenants', entries],
                ['Found', hits],
                ['Not found', misses],
                ['Read again', reloads],
                ['Forgotten', evictions],
              ]}
            />
            <Buttons>
              <RunButton label="Read all again" onRun={reload} />
              <RunButton label="Forget those unused for 5 minutes" onRun={evict} />
            </Buttons>
            {(cached.data ? cached.data.length > 0 : !cached.error) && (
              <ListTable
                label="Tenants in memory"
                columns={TENANT_COLUMNS}
                rows={cached.data}
                keyOf={({ tenant_id }) => tenant_id}
              />
            )}
          </>
        )}
      </ReadPanel>
      <ReadPanel title="Credentials in memory" aside="By a part of their hash" query={uses}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState title="None was used yet">Requests with a tenant’s key are counted here.</EmptyState>
          ) : (
            <ListTable
              label="Credentials in memory"
              columns={USE_COLUMNS}
              rows={items}
              keyOf={({ cache_key }) => cache_key}
            />
          )
        }
      </ReadPanel>
    </>
  )
}

const TENANT_COLUMNS: Column<CachedTenant>[] = [
  { name: 'Tenant', cell: ({ tenant_id }) => <TenantName tenantId={tenant_id} /> },
  { name: 'Live calls', isNumber: true, cell: ({ active_sessions }) => active_sessions },
  { name: 'Followers of the log', from: 'tablet', isNumber: true, cell: ({ log_subscribers }) => log_subscribers },
  { name: 'Carrier', from: 'tablet', cell: ({ telephony_configured: isSet }) => (isSet ? 'Set' : 'Not set') },
  { name: 'Voice', from: 'desktop', cell: ({ audio_output_provider }) => audio_output_provider },
]

const USE_COLUMNS: Column<CredentialUse>[] = [
  { name: 'Credential', cell: ({ cache_key }) => <span className="mono">{cache_key}</span> },
  { name: 'Tenant', cell: ({ tenant_id }) => <TenantName tenantId={tenant_id} /> },
  { name: 'Found', isNumber: true, cell: ({ hits }) => hits },
  { name: 'Not found', from: 'tablet', isNumber: true, cell: ({ misses }) => misses },
  { name: 'Read again', from: 'tablet', isNumber: true, cell: ({ reloads }) => reloads },
]
