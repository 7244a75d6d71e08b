import { Checkbox, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Form } from '../../components/modal-form.tsx'

/** What an agent is called, and what publishing its versions takes. */
export type AgentValues = { name: string; description: string; require_simulation: boolean }

type AgentFieldsProps = {
  form: Form<AgentValues>
  /** Behind its name. */
  children?: ReactNode
}

/** What can be changed of an agent whatever it says. */
export function AgentFields({ form: { values, set, fault }, children }: AgentFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="For people."
        required
        value={values.name}
        error={fault('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {children}
      <Textarea
        label="Description"
        rows={3}
        value={values.description}
        error={fault('description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Checkbox
        label="Publish only what has passed a simulation"
        description="A draft is published once it has passed one as it is. An earlier version comes back without."
        checked={values.require_simulation}
        onChange={(event) => set({ require_simulation: event.currentTarget.checked })}
      />
    </>
  )
}
