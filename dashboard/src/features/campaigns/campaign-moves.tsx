import { useQueryClient } from '@tanstack/react-query'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { type Campaign, type CampaignMove, campaignsKey, moveCampaign } from './campaign-queries.ts'

const STARTED = ['draft', 'paused', 'paused_by_breaker']

/** Starts a campaign, pauses it, or ends it for good. */
export function CampaignMoves({ campaign }: { campaign: Campaign }) {
  const client = useQueryClient()
  const { status, contacts, agent_key: agentKey } = campaign
  const about = campaign.name
  const isOver = status === 'completed' || status === 'cancelled'
  const people = contacts.pending === 1 ? 'One person is' : `${contacts.pending} people are`

  const move = (asked: CampaignMove) => async () => {
    try {
      await moveCampaign(campaign, asked)
    } finally {
      // Somebody else may have been first.
      await client.invalidateQueries({ queryKey: campaignsKey(campaign.tenant_id) })
    }
  }

  if (isOver) return null
  return (
    <>
      {STARTED.includes(status) && (
        <ConfirmAction label={status === 'draft' ? 'Start' : 'Go on'} about={about} isNext onConfirm={move('start')}>
          {people} called by the agent <span className="mono">{agentKey}</span>, as it is published now. Calls cost
          money.
        </ConfirmAction>
      )}
      {status === 'running' && (
        <ConfirmAction label="Pause" about={about} onConfirm={move('pause')}>
          Nobody else is called until it goes on. Calls that are on their way go on.
        </ConfirmAction>
      )}
      <ConfirmAction label="Cancel the campaign" about={about} isGrave onConfirm={move('cancel')}>
        Nobody else is called, ever. Calls that are on their way go on.
      </ConfirmAction>
    </>
  )
}
