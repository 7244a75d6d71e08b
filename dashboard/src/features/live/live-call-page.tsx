import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { asFailure } from '../../api/failure.ts'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { useLiveConversation } from '../../api/use-live-conversation.ts'
import { BackLink } from '../../components/back-link.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { Elapsed } from '../../components/elapsed.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LiveConversationView } from '../../components/live-conversation.tsx'
import { LiveActions } from './live-actions.tsx'
import styles from './live-call-page.module.css'
import { LiveLines } from './live-lines.tsx'
import { callsElsewhereQuery, hasEnded, type LiveCall, liveCallQuery, noteEnd } from './live-queries.ts'
import { LiveState, whoIn } from './live-state.tsx'

/** A call while it goes on: read along, and step in. */
export function LiveCallPage() {
  const tenantId = useTenant()
  const { streamSid = '' } = useParams({ strict: false })
  const { data: call, error, refetch } = useQuery(liveCallQuery(tenantId, streamSid))
  // That it is there no more is no failure.
  const isGone = error !== null && asFailure(error).status === 404
  return (
    <DetailPage
      title={call ? { before: `${whoIn(call)} · `, name: call.agent_name } : 'Live call'}
      above={
        <BackLink to="/t/$tenantId/live" params={{ tenantId }}>
          Live calls
        </BackLink>
      }
      description={call && !isGone && <LiveFacts call={call} />}
      thing={isGone ? (call ?? null) : call}
      error={isGone ? null : error}
      onRetry={() => void refetch()}
    >
      {(live) =>
        live === null ? (
          <NotLive tenantId={tenantId} />
        ) : (
          <WatchedCall key={streamSid} tenantId={tenantId} call={live} isGone={isGone} />
        )
      }
    </DetailPage>
  )
}

/** Whoever comes to it when it is over, by a link of a colleague or on a page that was loaded again, is led to where it stands then. */
function NotLive({ tenantId }: { tenantId: string }) {
  return (
    <EmptyState title="No such call goes on">
      It may be over by now. Those that are over stand among{' '}
      <Link to="/t/$tenantId/calls" params={{ tenantId }}>
        all calls
      </Link>
      , newest first.
    </EmptyState>
  )
}

function LiveFacts({ call }: { call: LiveCall }) {
  return (
    <span className={styles.facts}>
      <LiveState call={call} /> {!hasEnded(call) && <Elapsed since={call.started_at} />}
    </span>
  )
}

function WatchedCall({ tenantId, call, isGone }: { tenantId: string; call: LiveCall; isGone: boolean }) {
  const mayAct = useMay('operator')
  const { stream_sid: streamSid, voice_session_id: sessionId } = call
  const followed = useLiveConversation({ tenantId, streamSid, sessionId })
  const client = useQueryClient()
  const { hasMoved, endReason, isTakenOver } = followed.conversation
  const hasEnded = endReason !== null
  // Its events may be the first to be asked for in vain, as when somebody comes back to the page.
  const isOver = isGone || hasEnded || hasMoved || followed.failure?.status === 404
  const shown = isOver ? { ...followed, failure: null } : followed
  const { data: others } = useQuery({ ...callsElsewhereQuery(tenantId, streamSid), enabled: isOver })
  const moved = others?.find((other) => other.call_sid === call.call_sid && other.stream_sid !== streamSid)
  useEffect(() => {
    if (hasEnded) void noteEnd(client, tenantId, streamSid)
  }, [hasEnded, client, tenantId, streamSid])
  // What there is to press would be that of before, until it is asked for the next time.
  const isOutdated = !isOver && isTakenOver !== call.taken_over
  useEffect(() => {
    if (isOutdated) void client.invalidateQueries({ queryKey: liveCallQuery(tenantId, streamSid).queryKey })
  }, [isOutdated, client, tenantId, streamSid])
  return (
    <>
      {mayAct && !isOver && <LiveLines tenantId={tenantId} call={call} />}
      {mayAct && <LiveActions tenantId={tenantId} call={call} isOver={isOver} />}
      <LiveConversationView followed={shown} agentName={call.agent_name} silence={<Quiet />} />
      <output>
        {isOver && moved && (
          <>
            The call goes on at another node.{' '}
            <Link to="/t/$tenantId/live/$streamSid" params={{ tenantId, streamSid: moved.stream_sid }}>
              Go there
            </Link>
          </>
        )}
        {isOver && !moved && (
          <>
            {!hasEnded && (hasMoved ? 'The call moves to another node. ' : 'The call is over. ')}
            <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid: call.call_sid }}>
              Read and hear it again
            </Link>
          </>
        )}
      </output>
    </>
  )
}

function Quiet() {
  return <EmptyState title="Nobody has spoken yet">What is said stands here as soon as it is heard.</EmptyState>
}
