import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { agentKeysQuery } from '../../api/agent-keys.ts'
import { ApiFailure, asFailure, isRefused } from '../../api/failure.ts'
import { Fields } from '../../components/fields.tsx'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { callsKey, type NewCall, placeCall } from './call-queries.ts'

const INITIAL: NewCall = { to: '', agent_key: '', from: '', greeting: '', consent: false }
const GREETING_CHARS = 2_000

/** Has an agent call somebody, and leads to the call. It is open when it comes. */
export function PlaceCall({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  // Of a call that may have been placed: whoever presses again asks what became of it, and places no second one.
  const key = useRef('')

  async function place(values: NewCall): Promise<void> {
    key.current ||= newKey()
    try {
      const callSid = await placeCall(tenantId, values, key.current)
      key.current = ''
      void client.invalidateQueries({ queryKey: callsKey(tenantId) })
      if (callSid !== null) await navigate({ to: '/t/$tenantId/calls/$callSid', params: { tenantId, callSid } })
    } catch (error) {
      if (isKnown(error)) key.current = ''
      throw inWords(error)
    }
  }

  return (
    <ModalForm label="Place a call" submit="Place the call" initial={INITIAL} onSubmit={place} isWanted>
      {(form) => <CallFields form={form} tenantId={tenantId} />}
    </ModalForm>
  )
}

/** Not `randomUUID`, which there is at `https://` alone. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Whether it is known that the request has placed no call, or what became of it. */
function isKnown(error: unknown): boolean {
  return isRefused(error) && asFailure(error).code !== 'request_in_flight'
}

/** What is said to programs of a key that was used for another call says nothing to whoever has changed a form. */
function inWords(error: unknown): unknown {
  const { code, status, requestId } = asFailure(error)
  if (code !== 'idempotency_mismatch') return error
  const message =
    'The call may have been placed as it was asked for before this was changed: look for it in the list. Press again to place this one as well.'
  return new ApiFailure({ status, code, message, ...(requestId !== null && { requestId }) })
}

function CallFields({ form: { values, set, fault }, tenantId }: { form: Form<NewCall>; tenantId: string }) {
  const { data: agentKeys = [] } = useQuery(agentKeysQuery(tenantId))
  return (
    <>
      <TextInput
        data-autofocus
        label="Number to call"
        description="With the country: +12025550123"
        type="tel"
        required
        value={values.to}
        error={fault('to')}
        onChange={(event) => set({ to: event.currentTarget.value })}
      />
      <Fields>
        <NativeSelect
          label="Agent"
          data={[{ value: '', label: 'Who speaks by default' }, ...agentKeys.map((value) => ({ value, label: value }))]}
          value={values.agent_key}
          error={fault('agent_key')}
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
      <Textarea
        label="Said first"
        description="In place of the agent's own greeting."
        rows={3}
        maxLength={GREETING_CHARS}
        value={values.greeting}
        error={fault('greeting')}
        onChange={(event) => set({ greeting: event.currentTarget.value })}
      />
      <Checkbox
        label="They agreed to be called"
        description="Where the tenant calls only with consent, nobody else is called."
        checked={values.consent}
        onChange={(event) => set({ consent: event.currentTarget.checked })}
      />
    </>
  )
}
