import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { ApiFailure, asFailure } from '../../api/failure.ts'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { useMay } from '../../api/session.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons } from '../../components/fields.tsx'
import { useShowLate } from '../../components/late-news.tsx'
import { isSecondClick } from '../../components/second-click.ts'
import { useIsThere } from '../../components/use-is-there.ts'
import { useReturnFocus } from '../../components/use-return-focus.ts'
import { agentsKey, createVersion, publishVersion, rolloutQuery, type Version } from './agent-queries.ts'
import { sharesOfOthers, sumOf } from './shares.ts'

type PublishProps = {
  version: Version
  /** Of what is seen of it; that of the version if not given. */
  etag?: string
  /** What is seen of it is not what would be published. */
  isUnsaved?: boolean
  /** Reads and shows what it says by now, where that is not what was seen. Not given: that is told. */
  onNewer?: () => Promise<void>
  /** It is what is to be done next here. */
  isNext?: boolean
  size?: 'xs' | 'sm'
}

const NOT_AS_SEEN =
  'Not published: somebody else has changed it since it was read here. Look at it, and publish it then.'

/** Lets calls talk to a version: to a new one, or to an earlier one again. */
export function PublishVersion({ version, etag, isUnsaved = false, onNewer, isNext, size = 'sm' }: PublishProps) {
  const mayPublish = useMay('admin')
  const client = useQueryClient()
  const isThere = useIsThere()
  const showLate = useShowLate()
  const [warnings, setWarnings] = useState<string[]>([])
  if (!mayPublish) return null

  const { tenant_id: tenantId, version_number: number, agent_name: about } = version
  const label = version.status === 'draft' ? `Publish version ${number}` : `Roll back to version ${number}`

  async function publish(isOpen: () => boolean): Promise<void> {
    try {
      const warned = await publishVersion(version, etag ?? version.etag)
      const isAwaited = isOpen()
      // The question goes with what is read then: a version that is published is not published again.
      await client.invalidateQueries({ queryKey: agentsKey(tenantId) })
      if (warned.length === 0) return
      if (isAwaited && isThere()) setWarnings(warned)
      else showLate({ label, about, tenantId, shown: <Warnings warnings={warned} /> })
    } catch (failure) {
      if (asFailure(failure).status !== 412) throw failure
      // Whoever has left sees none of that, and is told.
      if (onNewer && isOpen()) return onNewer()
      void client.invalidateQueries({ queryKey: agentsKey(tenantId) })
      throw new ApiFailure({ status: 412, code: 'precondition_failed', message: NOT_AS_SEEN })
    }
  }

  return (
    <>
      {version.status !== 'published' && (
        <ConfirmAction
          label={label}
          about={about}
          isNext={isNext ?? false}
          size={size}
          disabled={isUnsaved}
          onConfirm={publish}
        >
          <WhoTalksToIt version={version} />
        </ConfirmAction>
      )}
      <WarnedWindow number={number} warnings={warnings} onClose={() => setWarnings([])} />
    </>
  )
}

type WarnedProps = { number: number; warnings: string[]; onClose: () => void }

/** What will hardly work of a version that calls talk to by now. */
function WarnedWindow({ number, warnings, onClose }: WarnedProps) {
  const isOpen = warnings.length > 0
  useReturnFocus(isOpen)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={`Version ${number} is published`}
      centered
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Warnings warnings={warnings} />
      <Buttons>
        <Button data-autofocus onClick={onClose}>
          Close
        </Button>
      </Buttons>
    </Modal>
  )
}

function Warnings({ warnings }: { warnings: string[] }) {
  return (
    <div>
      {warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  )
}

/** Whom a version gets that is published. What a rollout gives to others it does not get, and whoever goes back in a hurry must know. */
function WhoTalksToIt({ version: { tenant_id, agent_id, id, version_number } }: { version: Version }) {
  // As it is when they are asked: the page may have been read long ago.
  const { data } = useQuery({ ...rolloutQuery(tenant_id, agent_id), refetchOnMount: 'always' })
  const others = data && sumOf(sharesOfOthers(data.shares, id))
  const most = `Calls that begin from now on talk to version ${version_number}`
  const kept =
    others === undefined
      ? 'what the rollout gives to other versions'
      : `${others}% of them, which the rollout gives to other versions`
  return <>{others === 0 ? most : `${most}, but for ${kept}`}. Calls that go on keep theirs.</>
}

type DraftProps = {
  tenantId: string
  agentId: string
  from: { version_number: number; config: object } | undefined
  /** What is seen of that one is not what would be in the draft. */
  isUnsaved?: boolean
  /** Something else is to be done before. */
  isLater?: boolean
  label?: string
  /** The draft is there, and is gone to next. */
  onMade?: () => void
}

/** Drafts a version that says what another one says, or nothing yet. */
export function NewDraft({ tenantId, agentId, from, isUnsaved = false, isLater = false, label, onMade }: DraftProps) {
  const mayDraft = useMay('admin')
  const client = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  const draft = useMutation({
    mutationFn: () => createVersion(tenantId, agentId, from?.config ?? {}),
    onMutate: () => router.state.location.pathname,
    onSuccess: async ({ id: versionId }, _nothing, askedAt) => {
      // At once: as long as what was typed is drawn as unsaved, whoever is led to the draft that has it is asked whether to drop it.
      if (onMade) flushSync(onMade)
      await client.invalidateQueries({ queryKey: agentsKey(tenantId) })
      // Whoever has gone elsewhere meanwhile stays there.
      if (router.state.location.pathname !== askedAt) return
      const params = { tenantId, agentId, versionId }
      await navigate({ to: '/t/$tenantId/agents/$agentId/versions/$versionId', params })
    },
  })
  useHoldRoleFor(draft)
  if (!mayDraft) return null
  return (
    <>
      <Button
        size="sm"
        variant={isLater ? 'default' : 'filled'}
        loading={draft.isPending}
        disabled={isUnsaved}
        // The page of the draft, which may be there by then, has the same button in its place.
        onClick={(event) => !isSecondClick(event) && draft.mutate()}
      >
        {label ?? (from ? `New draft from version ${from.version_number}` : 'First draft')}
      </Button>
      {draft.error && <FailureState error={draft.error} />}
    </>
  )
}
