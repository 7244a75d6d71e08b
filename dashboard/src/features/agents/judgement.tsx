import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column } from '../../components/fields.tsx'
import { ListTable, type Column as TableColumn } from '../../components/list-table.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import { type Evaluation, evaluateRollout } from './agent-queries.ts'
import { figureText } from './figure-text.ts'

const TONES: Record<Evaluation['status'], Tone> = {
  ...{ disabled: 'quiet', no_policy: 'quiet', no_rollout: 'quiet', insufficient_data: 'wait' },
  ...{ healthy: 'good', rollback_recommended: 'bad', rolled_back: 'bad' },
}

const NOTHING_SEEN = { data: undefined, error: null }

type JudgementProps = {
  tenantId: string
  agentId: string
  /** What is judged now, and by what: of anything else what was seen says nothing. */
  about: string
}

/** What the scores of calls say of a rollout now. Nothing is changed by looking. */
export function Judgement({ tenantId, agentId, about }: JudgementProps) {
  const look = useMutation<Evaluation, Error, string>({ mutationFn: () => evaluateRollout(tenantId, agentId) })
  useHoldRoleFor(look)
  const { data, error } = look.variables === about ? look : NOTHING_SEEN
  const versions = data ? versionsIn(data) : []
  return (
    <Column>
      <Buttons>
        <Button variant="default" loading={look.isPending} onClick={() => look.mutate(about)}>
          Look at the scores now
        </Button>
        {data && <StatusBadge tone={TONES[data.status]}>{words(data.status)}</StatusBadge>}
      </Buttons>
      {error && <FailureState error={error} />}
      {data && data.reasons.length > 0 && (
        <ul>
          {data.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {versions.length > 0 && (
        <ListTable label="Scores" columns={COLUMNS} rows={versions} keyOf={({ agent_version_id: id }) => id} />
      )}
    </Column>
  )
}

/** Each once, though the published one may have a share of its own, too. */
function versionsIn({ published_version: published, rollout_versions: shared }: Evaluation) {
  const others = shared.filter(({ agent_version_id: id }) => id !== published?.agent_version_id)
  return published ? [published, ...others] : others
}

const COLUMNS: TableColumn<Evaluation['rollout_versions'][number]>[] = [
  { name: 'Version', cell: ({ version_number }) => `Version ${version_number}` },
  { name: 'Share', isNumber: true, cell: ({ traffic_percentage }) => `${traffic_percentage}%` },
  { name: 'Scored calls', isNumber: true, cell: ({ eval_count }) => eval_count },
  { name: 'Average', isNumber: true, cell: ({ avg_score }) => figureText(avg_score) },
  { name: 'Good', isNumber: true, cell: ({ high_quality_rate }) => figureText(high_quality_rate) },
]
