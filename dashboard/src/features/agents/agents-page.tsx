import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { DASH } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { AgentFields, type AgentValues } from './agent-fields.tsx'
import { type Agent, agentsKey, createAgent, listAgents } from './agent-queries.ts'

/** The agents of a tenant. */
export function AgentsPage() {
  const tenantId = useTenant()
  const mayCreate = useMay('admin')
  const list = useList({
    queryKey: [...agentsKey(tenantId), 'list'],
    part: (cursor) => listAgents(tenantId, cursor),
  })
  return (
    <ListPage
      title="Agents"
      description="Who answers calls, and how."
      actions={mayCreate && <NewAgent tenantId={tenantId} />}
      list={list}
      columns={columnsOf(tenantId)}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No agents yet">
          {mayCreate
            ? 'Make one, write what it says, publish it, and route a number to it.'
            : 'An admin of the tenant makes them.'}
        </EmptyState>
      }
    />
  )
}

type NewAgentValues = AgentValues & { agent_key: string }

const NOTHING: NewAgentValues = { name: '', agent_key: '', description: '', require_simulation: false }

function NewAgent({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()

  async function create(values: NewAgentValues, isOpen: () => boolean): Promise<void> {
    const agent = await createAgent(tenantId, values)
    await client.invalidateQueries({ queryKey: agentsKey(tenantId) })
    if (isOpen()) await navigate({ to: '/t/$tenantId/agents/$agentId', params: { tenantId, agentId: agent.id } })
  }

  return (
    <ModalForm label="New agent" submit="Create the agent" initial={NOTHING} onSubmit={create}>
      {(form) => (
        <AgentFields form={form}>
          <TextInput
            label="Key"
            description="How numbers and calls name it: small letters, digits, - and _."
            required
            value={form.values.agent_key}
            error={form.fault('agent_key')}
            onChange={(event) => form.set({ agent_key: event.currentTarget.value })}
          />
        </AgentFields>
      )}
    </ModalForm>
  )
}

function columnsOf(tenantId: string): Column<Agent>[] {
  return [
    {
      name: 'Name',
      isWritten: true,
      cell: ({ id, name }) => (
        <RowLink to="/t/$tenantId/agents/$agentId" params={{ tenantId, agentId: id }}>
          {name}
        </RowLink>
      ),
    },
    { name: 'Key', isWritten: true, cell: ({ agent_key }) => <span className="mono">{agent_key}</span> },
    { name: 'Description', isWritten: true, from: 'desktop', cell: ({ description }) => description || DASH },
    { name: 'Changed', from: 'tablet', cell: ({ updated_at }) => <Instant at={updated_at} /> },
  ]
}
