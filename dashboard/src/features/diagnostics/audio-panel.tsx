import { useQuery } from '@tanstack/react-query'
import { Facts } from '../../components/facts.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
import { DASH, words } from '../../components/text.ts'
import { type AudioItem, audioQuery } from './diagnostics-queries.ts'

const COLUMNS: Column<AudioItem>[] = [
  { name: 'Tenant', cell: ({ tenant_id }) => <TenantName tenantId={tenant_id} /> },
  { name: 'Asks for', cell: ({ configured }) => words(configured) },
  { name: 'Gets', cell: ({ effective }) => words(effective) },
  { name: 'Because', from: 'tablet', cell: ({ fallback_reason }) => (fallback_reason ? words(fallback_reason) : DASH) },
]

/** Whose voice tenants ask for, and whose they get. */
export function AudioPanel() {
  const query = useQuery(audioQuery)
  return (
    <ReadPanel title="Voices" query={query}>
      {(audio) => (
        <>
          <Facts
            facts={[
              ['Looked at', audio.evaluated_tenants],
              ['Ask for the model’s', audio.configured_primary],
              ['Ask for the secondary', audio.configured_secondary],
              ['Fall back', audio.fallback_active],
              ['For want of a setting', audio.fallback_not_configured],
              ['As it is away', audio.fallback_unavailable],
            ]}
          />
          {audio.items.length > 0 && (
            <ListTable label="Voices" columns={COLUMNS} rows={audio.items} keyOf={({ tenant_id }) => tenant_id} />
          )}
        </>
      )}
    </ReadPanel>
  )
}
