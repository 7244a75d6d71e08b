import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { type Version, versionIn, versionsQuery } from './agent-queries.ts'
import { ChatPanel } from './chat-panel.tsx'
import { SimulationPanel } from './simulation-panel.tsx'
import { NewDraft, PublishVersion } from './version-actions.tsx'
import { VersionForm } from './version-form.tsx'
import { VersionStatus } from './version-status.tsx'

/** What a version says: to be changed while it is a draft, and to be tried in text, also by callers that are made up. */
export function VersionPage() {
  const tenantId = useTenant()
  const { agentId = '', versionId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery({
    ...versionsQuery(tenantId, agentId),
    select: (versions) => versionIn(versions, versionId),
  })
  return (
    <DetailPage
      title={data ? { name: data.agent_name, after: `, version ${data.version_number}` } : 'Version'}
      above={
        <BackLink to="/t/$tenantId/agents/$agentId" params={{ tenantId, agentId }}>
          <bdi>{data?.agent_name ?? 'Agent'}</bdi>
        </BackLink>
      }
      description={data && <VersionStatus status={data.status} />}
      actions={data && <VersionActions version={data} />}
      thing={data}
      error={error}
      onRetry={() => void refetch()}
    >
      {(version) => <VersionParts key={version.id} version={version} />}
    </DetailPage>
  )
}

function VersionActions({ version }: { version: Version }) {
  return (
    <>
      <PublishVersion version={version} />
      <NewDraft tenantId={version.tenant_id} agentId={version.agent_id} from={version} />
    </>
  )
}

function VersionParts({ version }: { version: Version }) {
  const mayTry = useMay('admin')
  return (
    <>
      <VersionForm version={version} />
      {mayTry && <ChatPanel tenantId={version.tenant_id} versionId={version.id} />}
      <SimulationPanel version={version} />
    </>
  )
}
