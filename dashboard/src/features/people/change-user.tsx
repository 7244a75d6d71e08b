import { PasswordInput, TextInput } from '@mantine/core'
import { ApiFailure } from '../../api/failure.ts'
import { changedFields } from '../../components/changed-fields.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import type { User, UserChange } from './people-queries.ts'
import { RoleChoice } from './role-choice.tsx'

const SHORTEST_PASSWORD = 12
const LONGEST_PASSWORD = 200

type Person = Pick<User, 'email' | 'name' | 'role'>

/** With what it began with: somebody else may change the person meanwhile. An empty password is none. */
type ChangeValues = Person & { password: string; again: string; begun: Person }

type ChangeUserProps = { user: User; onChange: (change: UserChange) => Promise<void> }

/** Changes how somebody is called, what they log in with, and what they may. */
export function ChangeUser({ user: { email, name, role }, onChange }: ChangeUserProps) {
  const begun = { email, name, role }

  async function save(values: ChangeValues): Promise<void> {
    if (values.password !== values.again) throw notTheSame()
    const password = values.password === '' ? {} : { password: values.password }
    const change = { ...changedFields(values.begun, values), ...password }
    if (Object.keys(change).length > 0) await onChange(change)
  }

  return (
    <ModalForm
      label="Change"
      submit="Save the person"
      initial={{ ...begun, password: '', again: '', begun }}
      variant="default"
      size="xs"
      onSubmit={save}
    >
      {(form) => <PersonFields form={form} />}
    </ModalForm>
  )
}

/** As the service would say it, which is asked for one password alone. */
function notTheSame(): ApiFailure {
  const faults = [{ path: '/body/again', message: 'is not the same' }]
  const message = 'The two new passwords are not the same. Nothing is changed.'
  return new ApiFailure({ status: 400, code: 'invalid_request', message, faults })
}

function PersonFields({ form: { values, set, fault } }: { form: Form<ChangeValues> }) {
  return (
    <>
      <TextInput
        label="E-mail"
        description="What they log in with."
        type="email"
        autoComplete="off"
        required
        value={values.email}
        error={fault('email')}
        onChange={(event) => set({ email: event.currentTarget.value })}
      />
      <TextInput
        label="Name"
        value={values.name}
        error={fault('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <RoleChoice role={values.role} onChange={(role) => set({ role })} />
      <PasswordInput
        label="New password"
        description={`At least ${SHORTEST_PASSWORD} characters. It logs them out everywhere. Left empty, theirs stays.`}
        autoComplete="new-password"
        minLength={SHORTEST_PASSWORD}
        maxLength={LONGEST_PASSWORD}
        value={values.password}
        error={fault('password')}
        onChange={(event) => set({ password: event.currentTarget.value })}
      />
      <PasswordInput
        label="New password again"
        autoComplete="new-password"
        value={values.again}
        error={fault('again')}
        onChange={(event) => set({ again: event.currentTarget.value })}
      />
    </>
  )
}
