import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useEventStream } from '../../api/event-stream.ts'
import { isRefused } from '../../api/failure.ts'
import { useIsLookedAt } from '../../api/use-is-looked-at.ts'
import { type CallLog, callQuery, callsKey, type VoiceSession, voiceSessionQuery } from './call-queries.ts'
import { isGoingOn } from './call-status.tsx'
import { readAgainMs } from './read-again.ts'

/** Within a second after it happened it is written down. */
const WRITTEN_AFTER_MS = 1_200
const TELLING = new Set(['turn', 'tool', 'ended'])

type FollowedCall = {
  /** Undefined until it is read, and where nobody has talked. */
  session: VoiceSession | undefined
  error: unknown
  refetch: () => void
  isLive: boolean
}

/**
 * What was said in a call. While it goes on it is read again with the call when something was said or done in it, and by the clock
 * as long as no events tell of that; then until it is scored.
 */
export function useFollowedCall(tenantId: string, call: CallLog): FollowedCall {
  const client = useQueryClient()
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isWatched = useIsLookedAt() && isGoingOn(call)
  const path = isWatched && call.stream_sid ? `/api/v1/sessions/${encodeURIComponent(call.stream_sid)}/events` : null
  const { isOpen } = useEventStream({
    path,
    tenantId,
    onEvent: ({ event }) => {
      if (!TELLING.has(event)) return
      clearTimeout(waiting.current)
      waiting.current = setTimeout(() => {
        void client.invalidateQueries({ queryKey: callsKey(tenantId) })
      }, WRITTEN_AFTER_MS)
    },
  })
  const isLive = path !== null && isOpen
  const [callSid, id] = [call.call_sid ?? '', call.voice_session_id]
  const refetchInterval = ({ state: { error } }: { state: { error: unknown } }) => {
    const session = client.getQueryData(voiceSessionQuery(tenantId, id ?? '').queryKey)
    return isRefused(error) ? false : readAgainMs({ call, session, isFollowed: isLive })
  }
  useQuery({ ...callQuery(tenantId, callSid), refetchInterval })
  const wanted = { ...voiceSessionQuery(tenantId, id ?? ''), enabled: id !== null, refetchInterval }
  const { data: session, error, refetch } = useQuery(wanted)
  return { session, error, refetch: () => void refetch(), isLive }
}
