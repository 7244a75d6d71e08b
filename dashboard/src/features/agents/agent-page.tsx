import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable, RowLink } from '../../components/list-table.tsx'
import { type Agent, agentQuery, type Version, versionsQuery } from './agent-queries.ts'
import { ChangeAgent } from './change-agent.tsx'
import { ComparePanel } from './compare-panel.tsx'
import { PolicyPanel } from './policy-panel.tsx'
import { RolloutPanel } from './rollout-panel.tsx'
import { NewDraft, PublishVersion } from './version-actions.tsx'
import { VersionStatus } from './version-status.tsx'

/** An agent: what it says and said, and who hears which of it. */
export function AgentPage() {
  const tenantId = useTenant()
  const { agentId = '' } = useParams({ strict: false })
  const agent = useQuery(agentQuery(tenantId, agentId))
  const versions = useQuery(versionsQuery(tenantId, agentId))
  const reread = () => void Promise.all([agent.refetch(), versions.refetch()])
  const newest = versions.data?.find(({ status }) => status === 'published') ?? versions.data?.[0]
  return (
    <DetailPage
      title={agent.data ? { name: agent.data.name } : 'Agent'}
      above={
        <BackLink to="/t/$tenantId/agents" params={{ tenantId }}>
          Agents
        </BackLink>
      }
      description={agent.data && <AgentWords agent={agent.data} />}
      actions={
        <>
          {agent.data && <ChangeAgent agent={agent.data} />}
          {versions.data && <NewDraft tenantId={tenantId} agentId={agentId} from={newest} />}
        </>
      }
      thing={agent.data ? versions.data : undefined}
      error={agent.error ?? versions.error}
      onRetry={reread}
    >
      {(all) => <AgentParts tenantId={tenantId} agentId={agentId} versions={all} />}
    </DetailPage>
  )
}

function AgentWords({ agent: { agent_key: key, description, require_simulation: mustPass } }: { agent: Agent }) {
  return (
    <>
      <span className="mono">{key}</span>
      {description && (
        <>
          {' · '}
          <bdi>{description}</bdi>
        </>
      )}
      {mustPass && ' · Only what has passed a simulation is published'}
    </>
  )
}

type PartsProps = { tenantId: string; agentId: string; versions: Version[] }

function AgentParts({ tenantId, agentId, versions }: PartsProps) {
  if (versions.length === 0)
    return (
      <EmptyState title="It says nothing yet">
        Draft its first version, try it in text, and publish it. Until then no call reaches it.
      </EmptyState>
    )
  return (
    <>
      <ListTable label="Versions" columns={columnsOf(tenantId)} rows={versions} keyOf={({ id }) => id} />
      {versions.length > 1 && <ComparePanel versions={versions} />}
      <RolloutPanel tenantId={tenantId} agentId={agentId} versions={versions} />
      <PolicyPanel tenantId={tenantId} agentId={agentId} versions={versions} />
    </>
  )
}

function columnsOf(tenantId: string): Column<Version>[] {
  const place = '/t/$tenantId/agents/$agentId/versions/$versionId'
  return [
    {
      name: 'Version',
      cell: ({ id, agent_id, version_number }) => (
        <RowLink to={place} params={{ tenantId, agentId: agent_id, versionId: id }}>
          {`Version\u00a0${version_number}`}
        </RowLink>
      ),
    },
    { name: 'Status', cell: ({ status }) => <VersionStatus status={status} /> },
    {
      name: 'Greeting',
      isWritten: true,
      from: 'desktop',
      cell: ({ config }) => config.greeting || 'Worded by the agent',
    },
    { name: 'Published', from: 'tablet', cell: ({ published_at }) => <Instant at={published_at} /> },
    { name: 'Changed', from: 'desktop', cell: ({ updated_at }) => <Instant at={updated_at} /> },
    {
      name: 'Actions',
      isActions: true,
      cell: (version) => (
        <RowButtons>
          <PublishVersion version={version} size="xs" />
        </RowButtons>
      ),
    },
  ]
}
