import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRepeatable } from '../../api/use-repeatable.ts'
import { Fields } from '../../components/fields.tsx'
import { FileField } from '../../components/file-field.tsx'
import { useShowLate } from '../../components/late-news.tsx'
import { instantOf, LAST_MINUTE } from '../../components/local-time.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { SpeakerFields } from '../../components/speaker-fields.tsx'
import { dialled } from '../../components/text.ts'
import { useIsThere } from '../../components/use-is-there.ts'
import { campaignsKey, createCampaign, type MadeCampaign } from './campaign-queries.ts'
import { LeftOut } from './left-out.tsx'

const INITIAL = {
  ...{ name: '', agent_key: '', contacts: '', from: '', start_at: '', hours_start: '', hours_end: '' },
  ...{ calls_per_second: '1', max_concurrent: '5', max_attempts: '3', retry_minutes: '30, 60, 120', on_machine: '' },
}
type Values = typeof INITIAL

const ON_MACHINE = [
  { value: '', label: 'What the agent does' },
  { value: 'hang_up', label: 'Hang up' },
  { value: 'leave_message', label: 'Leave a message' },
]

const PACE = [
  { name: 'calls_per_second', label: 'Calls a second', description: '0.01 to 20.' },
  { name: 'max_concurrent', label: 'Calls at once', description: '500 at most.' },
  { name: 'max_attempts', label: 'Calls to one contact', description: '10 at most.' },
  { name: 'retry_minutes', label: 'Minutes between them', description: 'After the first, the second, and so on.' },
] as const

const LABEL = 'New campaign'
const DOUBT =
  'The campaign may have been made as it was asked for before: look for it in the list. Press again to make this one as well.'

type NewCampaignProps = { tenantId: string; onMade: (made: MadeCampaign) => void }

/** Makes a campaign of a list. It is a draft until somebody starts it. */
export function NewCampaign({ tenantId, onMade }: NewCampaignProps) {
  const client = useQueryClient()
  const isThere = useIsThere()
  const showLate = useShowLate()
  const repeatable = useRepeatable({ name: `campaign ${tenantId}`, doubt: DOUBT })

  async function make(values: Values): Promise<void> {
    const sent = { settings: settingsOf(values), csv: values.contacts }
    const made = await repeatable.send((key) => createCampaign(tenantId, sent, key))
    if (isThere()) onMade(made)
    else if (made.errors.length > 0)
      showLate({ label: LABEL, about: values.name, tenantId, shown: <LeftOut made={made} /> })
    await client.invalidateQueries({ queryKey: campaignsKey(tenantId) })
  }

  return (
    <ModalForm label={LABEL} submit="Make the campaign" initial={INITIAL} onSubmit={make} onClose={repeatable.leave}>
      {(form) => (
        <>
          <Whom form={form} tenantId={tenantId} />
          <Pace form={form} />
          <When form={form} />
        </>
      )}
    </ModalForm>
  )
}

function Whom({ form, tenantId }: { form: Form<Values>; tenantId: string }) {
  const { values, set, fault } = form
  return (
    <>
      <TextInput
        data-autofocus
        label="Name"
        required
        maxLength={200}
        value={values.name}
        error={fault('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <SpeakerFields form={form} tenantId={tenantId} none="Choose an agent" required />
      <Textarea
        label="Contacts"
        description="CSV. The first line names the columns: phone, and whatever else the agent is to know."
        placeholder={'phone,name,consent\n+12025550123,Ann,true'}
        required
        rows={6}
        resize="vertical"
        spellCheck={false}
        value={values.contacts}
        error={fault('contacts')}
        onChange={(event) => set({ contacts: event.currentTarget.value })}
      />
      <FileField label="Or take them from a file" onText={(contacts) => set({ contacts })} />
    </>
  )
}

function Pace({ form: { values, set, fault } }: { form: Form<Values> }) {
  return (
    <Fields>
      {PACE.map(({ name, ...field }) => (
        <TextInput
          key={name}
          {...field}
          value={values[name]}
          error={fault(name)}
          onChange={(event) => set({ [name]: event.currentTarget.value })}
        />
      ))}
    </Fields>
  )
}

function When({ form: { values, set, fault } }: { form: Form<Values> }) {
  const hours = [
    ['hours_start', 'Not before', 'start'],
    ['hours_end', 'Not after', 'end'],
  ] as const
  // Of both, as when the one is not before the other.
  const ofBoth = hours.some(([, , part]) => fault(`calling_hours/${part}`)) ? undefined : fault('calling_hours')
  return (
    <Fields>
      {hours.map(([name, label, part]) => (
        <TextInput
          key={name}
          label={label}
          description="In the time of whoever is called, beside the tenant's own hours."
          placeholder={name === 'hours_start' ? '09:00' : '17:00'}
          value={values[name]}
          error={fault(`calling_hours/${part}`) ?? ofBoth}
          onChange={(event) => set({ [name]: event.currentTarget.value })}
        />
      ))}
      <TextInput
        label="Nobody is called before"
        description="Once it is started. In your own time."
        type="datetime-local"
        max={LAST_MINUTE}
        value={values.start_at}
        error={fault('start_at')}
        onChange={(event) => set({ start_at: event.currentTarget.value })}
      />
      <NativeSelect
        label="When a machine answers"
        data={ON_MACHINE}
        value={values.on_machine}
        error={fault('on_machine')}
        onChange={(event) => set({ on_machine: event.currentTarget.value })}
      />
    </Fields>
  )
}

/** What of it was given, as the service takes it beside a list. */
function settingsOf({ contacts: _list, hours_start, hours_end, start_at, retry_minutes, ...plain }: Values) {
  const hours = hours_start.trim() === '' && hours_end.trim() === '' ? '' : `${hours_start.trim()}-${hours_end.trim()}`
  const given = {
    ...plain,
    from: dialled(plain.from),
    retry_minutes: retry_minutes.replaceAll(' ', ''),
    calling_hours: hours,
    start_at: instantOf(start_at) ?? '',
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ''))
}
