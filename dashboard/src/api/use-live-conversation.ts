import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useReducer, useState } from 'react'
import { answerOf, api, forTenant } from './client.ts'
import { useEventStream } from './event-stream.ts'
import type { ApiFailure } from './failure.ts'
import { afterEvent, LEFT, type LiveConversation, NOTHING_SAID, withoutOpen, withWritten } from './live-conversation.ts'
import { useIsLookedAt } from './use-is-looked-at.ts'

/** A call as it goes on. It is of one stream for good: give what uses it the stream as its `key`. */
export type FollowedConversation = {
  conversation: LiveConversation
  /** Events come. */
  isFollowed: boolean
  failure: ApiFailure | null
}

type Followed = {
  tenantId: string
  streamSid: string
  /** Under which it is written down. Null: that is not read, and it is followed while nobody looks at the page, too. */
  sessionId: string | null
}

/**
 * Follows what is said and done in a live call, from its oldest event that is kept. What was said while nobody looked at the page is read as
 * it was written down, where its events are kept no longer.
 */
export function useLiveConversation({ tenantId, streamSid, sessionId }: Followed): FollowedConversation {
  const [conversation, take] = useReducer(afterEvent, NOTHING_SAID)
  const isLeft = !useIsLookedAt() && sessionId !== null
  const [wasLeft, setWasLeft] = useState(isLeft)
  if (isLeft && !wasLeft) setWasLeft(true)
  const isOver = conversation.endReason !== null || conversation.hasMoved
  const path = isOver || isLeft ? null : `/api/v1/sessions/${encodeURIComponent(streamSid)}/events`
  const { isOpen, failure } = useEventStream({ path, tenantId, onEvent: take })
  useEffect(() => {
    if (isLeft) take(LEFT)
  }, [isLeft])
  // Of a call that is gone no event tells any more what was said last.
  const isGone = failure?.status === 404
  const { data: written = [] } = useQuery({
    ...writtenQuery(tenantId, sessionId ?? ''),
    enabled: wasLeft && (isOpen || isGone),
  })
  return {
    conversation: withWritten(wasLeft && isGone ? withoutOpen(conversation) : conversation, written),
    isFollowed: isOpen && !isOver,
    failure: isOver ? null : failure,
  }
}

/** What is written down of a call that goes on, read each time that its events are taken up again. */
const writtenQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: ['live', tenantId, 'written', id],
    queryFn: async () => {
      const asked = { params: { path: { id } }, headers: forTenant(tenantId) }
      return (await answerOf(api.GET('/api/v1/voice-sessions/{id}', asked))).voice_session.transcript
    },
    staleTime: 0,
  })
