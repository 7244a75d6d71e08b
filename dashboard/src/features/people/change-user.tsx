import { PasswordInput, TextInput } from '@mantine/core'
import { ApiFailure } from '../../api/failure.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { changesIn, changesOver, type Edit, editOf, newerOf } from '../../components/written-over.ts'
import { readUser, type User, type UserChange } from './people-queries.ts'
import { RoleChoice } from './role-choice.tsx'

const SHORTEST_PASSWORD = 12
const LONGEST_PASSWORD = 200

type Person = Pick<User, 'email' | 'name' | 'role'>

/** An empty password is none. */
type ChangeValues = Edit<Person> & { password: string; again: string }

type ChangeUserProps = { user: User; onChange: (change: UserChange) => Promise<void> }

/** Changes how somebody is called, what they log in with, and what they may. What others change of them meanwhile is not written over unseen. */
export function ChangeUser({ user, onChange }: ChangeUserProps) {
  const readPerson = async () => personOf(await readUser(user))

  async function save(values: ChangeValues): Promise<void> {
    if (values.password !== values.again) throw notTheSame()
    const password = values.password === '' ? {} : { password: values.password }
    const isPerson = Object.keys(changesIn<Person>(values)).length > 0
    const person = isPerson ? changesOver<Person>(values, await readPerson()) : {}
    const change = { ...person, ...password }
    if (Object.keys(change).length > 0) await onChange(change)
  }

  return (
    <ModalForm
      label="Change"
      about={user.email}
      submit="Save the person"
      initial={valuesOf(personOf(user))}
      variant="default"
      size="xs"
      newer={newerOf<Person, ChangeValues>(async () => valuesOf(await readPerson()))}
      onSubmit={save}
    >
      {(form) => <PersonFields form={form} />}
    </ModalForm>
  )
}

const personOf = ({ email, name, role }: User): Person => ({ email, name, role })
const valuesOf = (person: Person): ChangeValues => ({ ...editOf(person), password: '', again: '' })

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
