import { Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiFailure } from '../../api/failure.ts'
import { useRepeatable } from '../../api/use-repeatable.ts'
import { ConsentField } from '../../components/consent-field.tsx'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { PhoneField } from '../../components/phone-field.tsx'
import { SpeakerFields } from '../../components/speaker-fields.tsx'
import { callsKey, type NewCall, placeCall } from './call-queries.ts'

const INITIAL: NewCall = { to: '', agent_key: '', from: '', greeting: '', consent: false }
const GREETING_CHARS = 2_000
const WORDS = {
  unknown:
    'It is not known yet whether the carrier has the call. Press again to ask what became of it: no second one is placed.',
  doubt:
    'The call may have been placed as it was asked for before: look for it in the list. Press again to place this one as well.',
}

/** Has an agent call somebody, and leads to the call. It is open when it comes. */
export function PlaceCall({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const repeatable = useRepeatable({ name: `call ${tenantId}`, ...WORDS })

  async function place(values: NewCall, isOpen: () => boolean): Promise<void> {
    const callSid = await repeatable.send((key) => placeCall(tenantId, values, key))
    void client.invalidateQueries({ queryKey: callsKey(tenantId) })
    if (callSid === null) throw notConfirmed()
    if (isOpen()) await navigate({ to: '/t/$tenantId/calls/$callSid', params: { tenantId, callSid } })
  }

  return (
    <ModalForm
      label="Place a call"
      submit="Place the call"
      initial={INITIAL}
      onSubmit={place}
      onClose={repeatable.leave}
      isWanted
    >
      {(form) => <CallFields form={form} tenantId={tenantId} />}
    </ModalForm>
  )
}

/** Of a call that was in doubt: also of one that the carrier could not be asked about in time. */
function notConfirmed(): ApiFailure {
  const message =
    'The carrier did not confirm the call in time: most likely nobody was called. Look for it in the list. Press again to place it.'
  return new ApiFailure({ status: 409, code: 'not_confirmed', message })
}

function CallFields({ form, tenantId }: { form: Form<NewCall>; tenantId: string }) {
  const { values, set, fault } = form
  return (
    <>
      <PhoneField form={form} name="to" label="Number to call" />
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
      <ConsentField form={form} description="Where the tenant calls only with consent, nobody else is called." />
    </>
  )
}
