import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useEventStream } from '../../api/event-stream.ts'
import { type CallLog, callsKey } from './call-queries.ts'
import { isGoingOn } from './call-status.tsx'

/** Within a second after it happened it is written down. */
const WRITTEN_AFTER_MS = 1_200
const TELLING = new Set(['turn', 'tool', 'ended'])

/** Reads a call that goes on again when something was said or done in it. Returns whether it is followed. */
export function useFollowedCall(tenantId: string, call: CallLog): boolean {
  const client = useQueryClient()
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const path =
    isGoingOn(call) && call.stream_sid ? `/api/v1/sessions/${encodeURIComponent(call.stream_sid)}/events` : null
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
  return path !== null && isOpen
}
