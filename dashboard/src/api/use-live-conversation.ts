import { useReducer } from 'react'
import { useEventStream } from './event-stream.ts'
import type { ApiFailure } from './failure.ts'
import { afterEvent, type LiveConversation, NOTHING_SAID } from './live-conversation.ts'

/** A call as it goes on. It is of one stream for good: give what uses it the stream as its `key`. */
export type FollowedConversation = {
  conversation: LiveConversation
  /** Events come. */
  isFollowed: boolean
  failure: ApiFailure | null
}

/** Follows what is said and done in a live call, from its oldest event that is kept. */
export function useLiveConversation(tenantId: string, streamSid: string): FollowedConversation {
  const [conversation, take] = useReducer(afterEvent, NOTHING_SAID)
  const isOver = conversation.endReason !== null || conversation.hasMoved
  const path = isOver ? null : `/api/v1/sessions/${encodeURIComponent(streamSid)}/events`
  const { isOpen, failure } = useEventStream({ path, tenantId, onEvent: take })
  return { conversation, isFollowed: isOpen && !isOver, failure: isOver ? null : failure }
}
