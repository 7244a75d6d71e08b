import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { agentKeysQuery } from '../../api/agent-keys.ts'
import { unreadFault } from '../../components/fault-at.ts'
import { ModalForm } from '../../components/modal-form.tsx'
import { phoneText } from '../../components/text.ts'
import { type Edit, editOf, newerOf, writtenOver } from '../../components/written-over.ts'
import { numbersKey, type PhoneRoute, type PhoneRouteFields, putNumber, readNumber } from './number-queries.ts'

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

type NumberValues = Edit<PhoneRouteFields> & { configure_carrier: boolean }

/** Adds a number, or changes who answers it. What others change of it meanwhile is not written over unseen. */
export function NumberForm({ tenantId, route }: NumberFormProps) {
  const client = useQueryClient()
  const agents = useQuery(agentKeysQuery(tenantId))
  const agentKeys = agents.data ?? []
  const choices = [...new Set([...(route ? [route.agent_key] : []), ...agentKeys])]

  async function save(values: NumberValues): Promise<void> {
    const { known: _known, configure_carrier, ...fields } = values
    const written = route ? writtenOver(values, fieldsOf(await readNumber(route))) : fields
    await putNumber(tenantId, route?.id ?? null, { ...written, configure_carrier })
    await client.invalidateQueries({ queryKey: numbersKey(tenantId) })
  }

  return (
    <ModalForm
      label={route ? 'Change' : 'Add a number'}
      about={route ? phoneText(route.phone_number) : undefined}
      submit={route ? 'Save the number' : 'Add the number'}
      initial={valuesOf(route)}
      onSubmit={save}
      {...(route && { variant: 'default', size: 'xs' as const, newer: newerThan(route) })}
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

function fieldsOf({ phone_number, agent_key, label, inbound_enabled, outbound_default }: PhoneRouteFields) {
  return { phone_number, agent_key, label, inbound_enabled, outbound_default }
}

const NO_NUMBER = { phone_number: '', agent_key: '', label: '', inbound_enabled: true, outbound_default: false }

function valuesOf(route: PhoneRoute | null): NumberValues {
  return { ...editOf<PhoneRouteFields>(fieldsOf(route ?? NO_NUMBER)), configure_carrier: false }
}

const newerThan = (route: PhoneRoute) =>
  newerOf<PhoneRouteFields, NumberValues>(async () => valuesOf(await readNumber(route)))
