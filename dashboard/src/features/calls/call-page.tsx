import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answerOf, api, forTenant } from '../../api/client.ts'
import { useMay, usePerson } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { Conversation } from '../../components/conversation.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Note } from '../../components/note.tsx'
import { AnswerWaterfall } from './answer-waterfall.tsx'
import { CallFacts } from './call-facts.tsx'
import { type CallLog, callQuery, callsKey, partiesText } from './call-queries.ts'
import { CallScore } from './call-score.tsx'
import { CallStatus, isErased, isGoingOn } from './call-status.tsx'
import { CancelCall, isRinging } from './cancel-call.tsx'
import { EraseCall } from './erase-call.tsx'
import { playedTurn } from './played-turn.ts'
import { Recording } from './recording.tsx'
import { SupervisorActions } from './supervisor-actions.tsx'
import { ToolCalls } from './tool-calls.tsx'
import { useFollowedCall } from './use-followed-call.ts'
import type { WavePlayer } from './wave-player.ts'

/** A call to be read again, or to be followed while it goes on. */
export function CallPage() {
  const tenantId = useTenant()
  const { callSid = '' } = useParams({ strict: false })
  const { data: call, error, refetch } = useQuery(callQuery(tenantId, callSid))
  return (
    <DetailPage
      title={call ? partiesText(call) : 'Call'}
      above={
        <BackLink to="/t/$tenantId/calls" params={{ tenantId }}>
          Calls
        </BackLink>
      }
      description={call && <CallStatus status={call.status} />}
      actions={call && <CallActions tenantId={tenantId} call={call} />}
      thing={call}
      error={error}
      onRetry={() => void refetch()}
    >
      {(log) => <CallReview tenantId={tenantId} call={log} />}
    </DetailPage>
  )
}

function CallReview({ tenantId, call }: { tenantId: string; call: CallLog }) {
  const { session, error, refetch, isLive } = useFollowedCall(tenantId, call)
  const player = useRef<WavePlayer>(null)
  const [isHeard, setHeard] = useState(false)
  const [atMs, setAt] = useState(-1)
  const playedSeq = session && isHeard ? playedTurn(session.transcript, atMs) : null
  return (
    <>
      <CallFacts call={call} session={session} />
      {error !== null && <FailureState error={error} onRetry={refetch} />}
      {isErased(call) && (
        <Note>What was said in this call has been erased, as somebody asked or because of its age.</Note>
      )}
      {session && <CallScore {...{ tenantId, call, session }} />}
      {session?.recording_url && (
        <Recording
          {...{ tenantId, player, url: session.recording_url, name: session.id }}
          onReady={setHeard}
          onTime={setAt}
        />
      )}
      {session && (
        <Conversation
          turns={session.transcript}
          agentName={session.agent_name}
          isLive={isLive}
          isFramed={isGoingOn(call)}
          silence={
            isGoingOn(call) && <EmptyState title="Nothing was said yet">It stands here as it is spoken.</EmptyState>
          }
          onPlay={isHeard ? (ms) => player.current?.playFrom(ms) : null}
          playedSeq={playedSeq}
        />
      )}
      {session && <AnswerWaterfall session={session} />}
      {session && session.function_calls.length > 0 && <ToolCalls calls={session.function_calls} />}
      {session && <SupervisorActions actions={session.supervisor_actions} />}
    </>
  )
}

/** While it rings or goes on it can be ended, and afterwards erased. */
function CallActions({ tenantId, call }: { tenantId: string; call: CallLog }) {
  const mayErase = useMay('admin')
  const { stream_sid: streamSid, voice_session_id: sessionId } = call
  if (isRinging(call)) return <CancelCall {...{ tenantId, call }} />
  if (isGoingOn(call)) return streamSid && <EndCall {...{ tenantId, streamSid }} about={partiesText(call)} />
  return mayErase && sessionId && <EraseCall {...{ tenantId, call, sessionId }} />
}

function EndCall({ tenantId, streamSid, about }: { tenantId: string; streamSid: string; about: string }) {
  const { name } = usePerson()
  const mayEnd = useMay('operator')
  const client = useQueryClient()
  if (!mayEnd) return null

  async function end(): Promise<void> {
    const params = { path: { stream_sid: streamSid } }
    const body = { action: 'end_call', supervisor: name }
    await answerOf(api.POST('/api/v1/sessions/{stream_sid}/actions', { params, body, headers: forTenant(tenantId) }))
    await client.invalidateQueries({ queryKey: callsKey(tenantId) })
  }

  return (
    <ConfirmAction label="End the call" about={about} isGrave onConfirm={end}>
      The caller is cut off at once, without a goodbye.
    </ConfirmAction>
  )
}
