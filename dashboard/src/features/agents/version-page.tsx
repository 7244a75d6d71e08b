import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { type DocumentState, useDocument } from '../../components/document-state.ts'
import { type Version, versionIn, versionsQuery } from './agent-queries.ts'
import { ChatPanel } from './chat-panel.tsx'
import { SimulationPanel } from './simulation-panel.tsx'
import { type DraftSaving, useDraftSaving } from './use-draft-saving.ts'
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
  const page = {
    above: (
      <BackLink to="/t/$tenantId/agents/$agentId" params={{ tenantId, agentId }}>
        <bdi>{data?.agent_name ?? 'Agent'}</bdi>
      </BackLink>
    ),
    error,
    onRetry: () => void refetch(),
  }
  if (data) return <KnownVersion key={data.id} version={data} page={page} />
  return (
    <DetailPage title="Version" thing={undefined} {...page}>
      {() => null}
    </DetailPage>
  )
}

type KnownProps = { version: Version; page: { above: ReactNode; error: unknown; onRetry: () => void } }

function KnownVersion({ version, page }: KnownProps) {
  const document = useDocument(version.config)
  const saving = useDraftSaving(version, document)
  const shown = { version, document, saving }
  return (
    <DetailPage
      title={{ name: version.agent_name, after: `, version ${version.version_number}` }}
      description={<VersionStatus status={version.status} />}
      actions={<VersionActions {...shown} />}
      thing={version}
      {...page}
    >
      {() => <VersionParts {...shown} />}
    </DetailPage>
  )
}

type ShownProps = { version: Version; document: DocumentState; saving: DraftSaving }

/** What calls talk to is what was saved: it is published when that is what stands here. */
function VersionActions({ version, document: { isChanged }, saving }: ShownProps) {
  const { isBehind } = saving
  const isUnsaved = isChanged || isBehind
  const isDraft = version.status === 'draft'
  return (
    <>
      {isDraft && isChanged && <span>Save the draft first</span>}
      {isBehind && !isChanged && !saving.save.isPending && <span>Somebody else has changed it meanwhile</span>}
      <PublishVersion {...{ version, isUnsaved, isNext: isDraft, etag: saving.etag }} onNewer={saving.readNewer} />
      <NewDraft
        {...{ tenantId: version.tenant_id, agentId: version.agent_id, from: version, isUnsaved }}
        isLater={isDraft}
      />
    </>
  )
}

function VersionParts({ version, document, saving }: ShownProps) {
  const mayTry = useMay('admin')
  return (
    <>
      <VersionForm version={version} document={document} saving={saving} />
      {mayTry && <ChatPanel tenantId={version.tenant_id} versionId={version.id} />}
      <SimulationPanel version={version} />
    </>
  )
}
