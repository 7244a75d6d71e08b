import { Checkbox, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type SubmitEvent, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { faultAt } from '../../components/fault-at.ts'
import { Column, Fields } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { SaveSettings } from '../../components/save-settings.tsx'
import { useSettings } from '../../components/use-settings.ts'
import { BusinessHours } from './business-hours.tsx'
import { putQueue, type QueueSettings, queueQuery, readQueue, resetQueue } from './queue-queries.ts'
import { deskKey } from './task-queries.ts'

/** How a queue works. */
export function QueuePage() {
  const tenantId = useTenant()
  const { queueKey = '' } = useParams({ strict: false })
  const { data: known, error, refetch } = useQuery(queueQuery(tenantId, queueKey))
  const client = useQueryClient()
  const maySet = useMay('admin')
  // A form that is filled in stays as it is, whatever is read meanwhile.
  const [resets, setResets] = useState(0)

  async function reset(): Promise<void> {
    await resetQueue(tenantId, queueKey)
    await client.invalidateQueries({ queryKey: deskKey(tenantId) })
    setResets((count) => count + 1)
  }

  return (
    <DetailPage
      title={`Queue ${queueKey}`}
      description="What is set counts for tasks that are made or changed from then on."
      above={
        <BackLink to="/t/$tenantId/desk" params={{ tenantId }}>
          Desk
        </BackLink>
      }
      actions={
        maySet && (
          <ConfirmAction label="Back to the defaults" about={queueKey} onConfirm={reset} disabled={!known?.isSet}>
            What is set here is forgotten. The tasks of the queue stay.
          </ConfirmAction>
        )
      }
      thing={known}
      error={error}
      onRetry={() => void refetch()}
    >
      {({ set }) => (
        <SettingsForm
          key={`${queueKey} ${resets}`}
          initial={set}
          isReadOnly={!maySet}
          read={async () => (await readQueue(tenantId, queueKey)).set}
          write={async (values) => {
            await putQueue(tenantId, queueKey, values)
            void client.invalidateQueries({ queryKey: deskKey(tenantId) })
          }}
        />
      )}
    </DetailPage>
  )
}

type SettingsFormProps = {
  initial: QueueSettings
  isReadOnly: boolean
  read: () => Promise<QueueSettings>
  write: (values: QueueSettings) => Promise<void>
}

const NUMBERS = [
  ['sla_minutes', 'To be done within (minutes)', 'After it is due, in business hours.'],
  ['reminder_minutes', 'Remind every (minutes)', 'Whoever has claimed it.'],
  ['escalate_after_minutes', 'Escalate after (minutes)', 'That it is late.'],
  ['max_attempts', 'Calls by agents at most', 'After the last the task is cancelled.'],
  ['retry_minutes', 'Call again after (minutes)', 'When nobody was reached.'],
] as const

const TEXTS = [
  ['name', 'Name', 'For people.'],
  ['escalation_target', 'Escalate to', 'Who is told: an e-mail address.'],
  ['dispatch_agent_key', 'Agent that calls', 'The key of an agent.'],
  ['timezone', 'Time zone', "Such as Europe/Berlin. Empty: the tenant's."],
] as const

function SettingsForm({ isReadOnly, ...asked }: SettingsFormProps) {
  const settings = useSettings(asked)
  const { values, set } = settings
  const fault = (name: string) => faultAt(settings.error, `/body/${name}`)

  function send(event: SubmitEvent): void {
    event.preventDefault()
    settings.save()
  }

  return (
    <form onSubmit={send}>
      <Panel title="Settings" aside={isReadOnly && 'Administrators can change them'}>
        <Column>
          <Fields>
            {TEXTS.map(([name, label, description]) => (
              <TextInput
                key={name}
                label={label}
                description={description}
                disabled={isReadOnly}
                value={values[name] ?? ''}
                error={fault(name)}
                onChange={({ currentTarget: { value } }) => set({ [name]: value === '' ? null : value })}
              />
            ))}
            {NUMBERS.map(([name, label, description]) => (
              <TextInput
                key={name}
                type="number"
                min={1}
                required
                label={label}
                description={description}
                disabled={isReadOnly}
                value={values[name] ?? ''}
                error={fault(name)}
                onChange={({ currentTarget: { value } }) => set({ [name]: value === '' ? undefined : Number(value) })}
              />
            ))}
          </Fields>
          <Checkbox
            label="Agents call back by themselves"
            disabled={isReadOnly}
            checked={values.auto_dispatch ?? false}
            onChange={(event) => set({ auto_dispatch: event.currentTarget.checked })}
          />
          <BusinessHours
            spans={values.business_hours ?? []}
            isReadOnly={isReadOnly}
            fault={(index) => fault(`business_hours/${index}`)}
            onChange={(spans) => set({ business_hours: spans })}
          />
          {!isReadOnly && <SaveSettings label="Save" settings={settings} />}
        </Column>
      </Panel>
    </form>
  )
}
