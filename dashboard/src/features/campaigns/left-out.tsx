import { Link } from '@tanstack/react-router'
import { Column as Below } from '../../components/fields.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { MadeCampaign } from './campaign-queries.ts'

type Fault = MadeCampaign['errors'][number]

const COLUMNS: Column<Fault>[] = [
  { name: 'Line', isNumber: true, cell: ({ at }) => at },
  { name: 'What is wrong', cell: ({ error }) => error },
]

/** A campaign that was just made, and whom it will not call. */
export function LeftOut({ made: { campaign, errors } }: { made: MadeCampaign }) {
  const { total } = campaign.contacts
  return (
    <Panel title="The campaign is made">
      <Below>
        <p>
          It has {total === 1 ? 'one contact' : `${total} contacts`}, and calls nobody yet.{' '}
          <Link
            to="/t/$tenantId/campaigns/$campaignId"
            params={{ tenantId: campaign.tenant_id, campaignId: campaign.id }}
          >
            Look at it, and start it
          </Link>
        </p>
        {errors.length > 0 && (
          <ListTable label="Lines that were left out" columns={COLUMNS} rows={errors} keyOf={({ at }) => String(at)} />
        )}
      </Below>
    </Panel>
  )
}
