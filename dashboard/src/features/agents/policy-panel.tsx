import { Checkbox, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useMay } from '../../api/session.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { faultAt } from '../../components/fault-at.ts'
import { Column, Fields } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { SaveSettings } from '../../components/save-settings.tsx'
import { useSettings } from '../../components/use-settings.ts'
import { type Policy, policyQuery, putPolicy, readPolicy, rolloutQuery, type Version } from './agent-queries.ts'
import { Judgement } from './judgement.tsx'

type PanelProps = { tenantId: string; agentId: string }
type PolicyPanelProps = PanelProps & { versions: Version[] }

/** What applies until somebody writes a policy. */
const DEFAULTS: Policy = {
  ...{ enabled: false, lookback_hours: 24, min_avg_score: 0.7 },
  ...{ min_eval_count: 20, min_high_quality_rate: 0.6 },
}

const NUMBERS: { name: Exclude<keyof Policy, 'enabled'>; label: string; step: number }[] = [
  { name: 'lookback_hours', label: 'Look back, in hours', step: 1 },
  { name: 'min_eval_count', label: 'Scored calls at least', step: 1 },
  { name: 'min_avg_score', label: 'Average score at least (0 to 1)', step: 0.01 },
  { name: 'min_high_quality_rate', label: 'Good calls at least (0 to 1)', step: 0.01 },
]

/** By what the rollout of an agent is judged. */
export function PolicyPanel({ tenantId, agentId, versions }: PolicyPanelProps) {
  const { data, error, refetch } = useQuery(policyQuery(tenantId, agentId))
  const rollout = useQuery(rolloutQuery(tenantId, agentId))
  const published = versions.find(({ status }) => status === 'published')
  const about = JSON.stringify([data, rollout.data?.etag, published?.id])
  const mayLook = useMay('admin')
  return (
    <Panel title="Governance" aside={data === null && 'Not set: these are the defaults'}>
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      <Column>
        {data !== undefined && <PolicyForm tenantId={tenantId} agentId={agentId} policy={data ?? DEFAULTS} />}
        {data && mayLook && <Judgement tenantId={tenantId} agentId={agentId} about={about} />}
      </Column>
    </Panel>
  )
}

function PolicyForm({ tenantId, agentId, policy }: PanelProps & { policy: Policy }) {
  const mayChange = useMay('admin')
  const client = useQueryClient()
  const settings = useSettings({
    initial: policy,
    read: async () => (await readPolicy(tenantId, agentId)) ?? DEFAULTS,
    write: async (written) => {
      await putPolicy(tenantId, agentId, written)
      await client.invalidateQueries({ queryKey: policyQuery(tenantId, agentId).queryKey })
    },
  })
  const { values, set } = settings

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    settings.save()
  }

  return (
    <form onSubmit={submit}>
      <Column>
        <Checkbox
          label="Judge rollouts by this"
          disabled={!mayChange}
          checked={values.enabled}
          onChange={(event) => set({ enabled: event.currentTarget.checked })}
        />
        <Fields>
          {NUMBERS.map(({ name, label, step }) => (
            <TextInput
              key={name}
              type="number"
              label={label}
              step={step}
              required
              disabled={!mayChange}
              value={Number.isNaN(values[name]) ? '' : values[name]}
              error={faultAt(settings.error, `/body/${name}`)}
              onChange={(event) => set({ [name]: event.currentTarget.valueAsNumber })}
            />
          ))}
        </Fields>
        {mayChange && <SaveSettings label="Save the policy" settings={settings} />}
      </Column>
    </form>
  )
}
