import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { agentKeysQuery } from '../api/agent-keys.ts'
import { unreadFault } from './fault-at.ts'
import { Fields } from './fields.tsx'
import type { Form } from './modal-form.tsx'

type Values = { agent_key: string; from: string }
type SpeakerFieldsProps = {
  form: Form<Values>
  tenantId: string
  /** What stands there while no agent is chosen. */
  none: string
  /** Whether one has to be chosen. */
  required?: boolean
}

/** Which agent calls, and from which number. */
export function SpeakerFields({ form: { values, set, fault }, tenantId, none, required = false }: SpeakerFieldsProps) {
  const agents = useQuery(agentKeysQuery(tenantId))
  const agentKeys = agents.data ?? []
  return (
    <Fields>
      <NativeSelect
        label="Agent"
        required={required}
        data={[{ value: '', label: none }, ...agentKeys.map((value) => ({ value, label: value }))]}
        value={values.agent_key}
        error={fault('agent_key') ?? unreadFault(agents, 'The agents')}
        onChange={(event) => set({ agent_key: event.currentTarget.value })}
      />
      <TextInput
        label="Call from"
        description="A number of the tenant. Empty: where its calls come from."
        type="tel"
        value={values.from}
        error={fault('from')}
        onChange={(event) => set({ from: event.currentTarget.value })}
      />
    </Fields>
  )
}
