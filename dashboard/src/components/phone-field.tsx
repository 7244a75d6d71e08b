import { TextInput } from '@mantine/core'
import type { Form } from './modal-form.tsx'

type PhoneFieldProps<Name extends string> = { form: Form<Record<Name, string>>; name: Name; label: string }

/** The number of whom a form is about, in which it begins. */
export function PhoneField<Name extends string>({ form, name, label }: PhoneFieldProps<Name>) {
  return (
    <TextInput
      data-autofocus
      label={label}
      description="With the country: +12025550123"
      type="tel"
      required
      value={form.values[name]}
      error={form.fault(name)}
      onChange={(event) => form.set({ [name]: event.currentTarget.value } as Record<Name, string>)}
    />
  )
}
