import { Checkbox } from '@mantine/core'
import type { Form } from './modal-form.tsx'

type ConsentFieldProps = {
  form: Form<{ consent: boolean }>
  /** What it is good for. */
  description: string
}

/** Whether whoever is to be called has agreed to that. */
export function ConsentField({ form: { values, set }, description }: ConsentFieldProps) {
  return (
    <Checkbox
      label="They agreed to be called"
      description={description}
      checked={values.consent}
      onChange={(event) => set({ consent: event.currentTarget.checked })}
    />
  )
}
