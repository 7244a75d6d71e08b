import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { followEvents, type ServerEvent, type StreamState } from './follow-events.ts'
import { sessionQuery, useSessionOf } from './session.ts'

type Stream = {
  /** Null: nothing is watched. One that was watched before is taken up where it was left. */
  path: string | null
  tenantId: string
  onEvent: (event: ServerEvent) => void
}

const CLOSED: StreamState = { isOpen: false, failure: null }

/**
 * Follows a stream of server-sent events for as long as the page shows it, and goes on behind the last event when the connection
 * is lost, or somebody has logged in again. (`EventSource` would send no header that says which tenant.)
 */
export function useEventStream({ path, tenantId, onEvent }: Stream): StreamState {
  const client = useQueryClient()
  const sessionOf = useSessionOf()
  const [state, setState] = useState(CLOSED)
  const last = useRef({ path, id: null as string | null })
  const take = useEffectEvent((event: ServerEvent) => {
    last.current = { path, id: event.id ?? last.current.id }
    onEvent(event)
  })
  useEffect(() => {
    if (path === null || sessionOf === null) return
    const leaving = new AbortController()
    const lastId = last.current.path === path ? last.current.id : null
    const followed = { path, tenantId, lastId, signal: leaving.signal, onEvent: take, onState: setState }
    void followEvents(followed).then((failure) => {
      if (failure?.status === 401) void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    })
    return () => {
      leaving.abort()
      setState(CLOSED)
    }
  }, [path, tenantId, sessionOf, client])
  return state
}
