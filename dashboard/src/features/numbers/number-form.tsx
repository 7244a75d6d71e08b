import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { agentKeysQuery } from '../../api/agent-keys.ts'
import { unreadFault } from '../../components/fault-at.ts'
import { ModalForm } from '../../components/modal-form.tsx'
import { numbersKey, type PhoneRoute, type PhoneRouteValues, putNumber } from './number-queries.ts'

const FLAGS: { name: 'inbound_enabled' | 'outbound_default' | 'configure_carrier'; label: string; hint: string }[] = [
  { name: 'inbound_enabled', label: 'Answer its calls', hint: 'Otherwise callers hear that nobody is there.' },
  { name: 'outbound_default', label: 'Call from it', hint: 'For calls that name no number of their own.' },
  {
    name: 'configure_carrier',
    label: 'Set it up at the carrier',
    hint: 'Has the carrier send its calls here. When that fails nothing is stored.',
  },
]

type NumberFormProps = { tenantId: string; route: PhoneRoute | null }

/** Adds a number, or changes who answers it. */
export function NumberForm({ tenantId, route }: NumberFormProps) {
  const client = useQueryClient()
  const agents = useQuery(agentKeysQuery(tenantId))
  const agentKeys = agents.data ?? []
  const choices = [...new Set([...(route ? [route.agent_key] : []), ...agentKeys])]

  async function save(values: PhoneRouteValues): Promise<void> {
    await putNumber(tenantId, route?.id ?? null, values)
    await client.invalidateQueries({ queryKey: numbersKey(tenantId) })
  }

  return (
    <ModalForm
      label={route ? 'Change' : 'Add a number'}
      submit={route ? 'Save the number' : 'Add the number'}
      initial={valuesOf(route)}
      onSubmit={save}
      {...(route && { variant: 'default', size: 'xs' as const })}
    >
      {({ values, set, fault }) => (
        <>
          <TextInput
            label="Number"
            placeholder="+12025550123"
            required
            value={values.phone_number}
            error={fault('phone_number')}
            onChange={(event) => set({ phone_number: event.currentTarget.value })}
          />
          <NativeSelect
            label="Agent"
            required
            data={[{ value: '', label: 'Choose an agent' }, ...choices.map((key) => ({ value: key, label: key }))]}
            value={values.agent_key}
            error={fault('agent_key') ?? unreadFault(agents, 'The agents')}
            onChange={(event) => set({ agent_key: event.currentTarget.value })}
          />
          <TextInput
            label="Label"
            description="For people."
            value={values.label}
            error={fault('label')}
            onChange={(event) => set({ label: event.currentTarget.value })}
          />
          {FLAGS.map(({ name, label, hint }) => (
            <Checkbox
              key={name}
              label={label}
              description={hint}
              checked={values[name]}
              onChange={(event) => set({ [name]: event.currentTarget.checked })}
            />
          ))}
        </>
      )}
    </ModalForm>
  )
}

function valuesOf(route: PhoneRoute | null): PhoneRouteValues {
  const {
    phone_number = '',
    agent_key = '',
    label = '',
    inbound_enabled = true,
    outbound_default = false,
  } = route ?? {}
  return { phone_number, agent_key, label, inbound_enabled, outbound_default, configure_carrier: false }
}
