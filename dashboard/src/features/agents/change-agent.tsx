import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { changedFields } from '../../components/changed-fields.ts'
import { ModalForm } from '../../components/modal-form.tsx'
import { AgentFields, type AgentValues } from './agent-fields.tsx'
import { type Agent, agentsKey, changeAgent } from './agent-queries.ts'

/** With what it began with: somebody else may change the agent meanwhile. */
type ChangeValues = AgentValues & { begun: AgentValues }

/** Renames an agent, and says what publishing its versions takes. */
export function ChangeAgent({ agent }: { agent: Agent }) {
  const mayChange = useMay('admin')
  const client = useQueryClient()
  if (!mayChange) return null
  const { name, description, require_simulation } = agent
  const begun = { name, description, require_simulation }

  async function save(values: ChangeValues): Promise<void> {
    const change = changedFields(values.begun, values)
    if (Object.keys(change).length > 0) await changeAgent(agent, change)
    await client.invalidateQueries({ queryKey: agentsKey(agent.tenant_id) })
  }

  return (
    <ModalForm
      label="Change the agent"
      submit="Save the agent"
      initial={{ ...begun, begun }}
      variant="default"
      onSubmit={save}
    >
      {(form) => <AgentFields form={form} />}
    </ModalForm>
  )
}
