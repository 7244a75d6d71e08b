import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { ModalForm } from '../../components/modal-form.tsx'
import { changesIn, changesOver, type Edit, editOf, newerOf } from '../../components/written-over.ts'
import { AgentFields, type AgentValues } from './agent-fields.tsx'
import { type Agent, agentQuery, agentsKey, changeAgent } from './agent-queries.ts'

/** Renames an agent, and says what publishing its versions takes. What others change of it meanwhile is not written over unseen. */
export function ChangeAgent({ agent }: { agent: Agent }) {
  const mayChange = useMay('admin')
  const client = useQueryClient()
  if (!mayChange) return null
  const query = agentQuery(agent.tenant_id, agent.id)
  const readValues = async () => valuesOf(await client.query({ ...query, staleTime: 0 }))

  async function save(edit: Edit<AgentValues>): Promise<void> {
    if (Object.keys(changesIn<AgentValues>(edit)).length > 0)
      await changeAgent(agent, changesOver<AgentValues>(edit, await readValues()))
    await client.invalidateQueries({ queryKey: agentsKey(agent.tenant_id) })
  }

  return (
    <ModalForm
      label="Change the agent"
      about={agent.name}
      submit="Save the agent"
      initial={editOf(valuesOf(agent))}
      variant="default"
      newer={newerOf<AgentValues, Edit<AgentValues>>(async () => editOf(await readValues()))}
      onSubmit={save}
    >
      {(form) => <AgentFields form={form} />}
    </ModalForm>
  )
}

function valuesOf({ name, description, require_simulation }: Agent): AgentValues {
  return { name, description, require_simulation }
}
