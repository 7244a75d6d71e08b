import { Checkbox, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRepeatable } from '../../api/use-repeatable.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { SpeakerFields } from '../../components/speaker-fields.tsx'
import { callsKey, type NewCall, placeCall } from './call-queries.ts'

const INITIAL: NewCall = { to: '', agent_key: '', from: '', greeting: '', consent: false }
const GREETING_CHARS = 2_000
const CHANGED =
  'The call may have been placed as it was asked for before this was changed: look for it in the list. Press again to place this one as well.'

/** Has an agent call somebody, and leads to the call. It is open when it comes. */
export function PlaceCall({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const sendOnce = useRepeatable(CHANGED)

  async function place(values: NewCall): Promise<void> {
    const callSid = await sendOnce((key) => placeCall(tenantId, values, key))
    void client.invalidateQueries({ queryKey: callsKey(tenantId) })
    if (callSid !== null) await navigate({ to: '/t/$tenantId/calls/$callSid', params: { tenantId, callSid } })
  }

  return (
    <ModalForm label="Place a call" submit="Place the call" initial={INITIAL} onSubmit={place} isWanted>
      {(form) => <CallFields form={form} tenantId={tenantId} />}
    </ModalForm>
  )
}

function CallFields({ form, tenantId }: { form: Form<NewCall>; tenantId: string }) {
  const { values, set, fault } = form
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
      <SpeakerFields form={form} tenantId={tenantId} none="Who speaks by default" />
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
