import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { type ApiFailure, asFailure, unreachable } from '../../api/failure.ts'
import { sessionQuery, useSessionOf } from '../../api/session.ts'
import type { LogFilters } from './log-filters.ts'

/** A line of the log, with a number of its own on this page. */
export type LogLine = { id: number; line: Record<string, unknown> }

/** What is shown of the log. */
export type Log = {
  /** Newest first. */
  lines: LogLine[]
  /** Lines that came too fast to be shown. */
  dropped: number
  isOpen: boolean
  failure: ApiFailure | null
}

const NOTHING: Log = { lines: [], dropped: 0, isOpen: false, failure: null }
const MOST_LINES = 500
const EARLIER_LINES = 100
/** Between one socket and the next, twice as long after each that was not let in. */
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 60_000
/** Whoever followed may no more. */
const UNAUTHENTICATED = 4401

/**
 * Follows the log, from some lines before on, for as long as the page shows it and somebody is logged in. `isPaused`: what comes is
 * left out.
 */
export function useLog(filters: LogFilters, isPaused: boolean): Log {
  const client = useQueryClient()
  const sessionOf = useSessionOf()
  const [log, setLog] = useState(NOTHING)
  const wanted = JSON.stringify(filters)
  useEffect(() => {
    if (isPaused || sessionOf === null) return
    const asked = JSON.parse(wanted) as LogFilters
    let isLeft = false
    let count = 0
    let pauseMs = FIRST_PAUSE_MS
    let socket: WebSocket | null = null
    let again: ReturnType<typeof setTimeout> | undefined
    const numbered = (line: Record<string, unknown>) => {
      count += 1
      return { id: count, line }
    }
    const change = (next: (log: Log) => Log) => {
      if (!isLeft) setLog(next)
    }

    /** The socket is open first: so no line is lost between, and those that came on both ways are told apart by their text. */
    async function readEarlier(): Promise<void> {
      const earlier = (await listEarlier(asked)).map(numbered)
      change((now) => {
        const known = new Set(now.lines.map(({ line }) => JSON.stringify(line)))
        const missing = earlier.filter(({ line }) => !known.has(JSON.stringify(line)))
        return { ...now, lines: [...now.lines, ...missing].slice(0, MOST_LINES) }
      })
    }

    function connect(): void {
      const opening = new WebSocket(`/logs?${new URLSearchParams(asked)}`)
      socket = opening
      socket.addEventListener('open', () => {
        if (isLeft) return opening.close()
        pauseMs = FIRST_PAUSE_MS
        change(() => ({ ...NOTHING, isOpen: true }))
        readEarlier().catch((error: unknown) => change((now) => ({ ...now, failure: asFailure(error) })))
      })
      socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
        const line = JSON.parse(data) as Record<string, unknown>
        if (line['type'] === 'dropped') change((now) => ({ ...now, dropped: now.dropped + Number(line['count']) }))
        else change((now) => ({ ...now, lines: [numbered(line), ...now.lines].slice(0, MOST_LINES) }))
      })
      socket.addEventListener('close', ({ code }) => {
        change((now) => ({ ...now, isOpen: false, failure: now.failure ?? unreachable() }))
        if (code === UNAUTHENTICATED) askWho()
        later()
      })
    }

    function later(): void {
      if (isLeft) return
      again = setTimeout(() => void begin(), pauseMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }

    /** A socket that is refused does not say why; a request for the same lines, which comes first, does. */
    async function begin(): Promise<void> {
      const failure = await listEarlier(asked).then(() => null, asFailure)
      // Whoever has left meanwhile would never close it.
      if (isLeft) return
      if (failure === null) return connect()
      change((now) => ({ ...now, failure }))
      if (failure.status === 401) askWho()
      later()
    }

    /** When it is nobody any more this is left: who goes on asking uses up what all at the same address may ask. */
    function askWho(): void {
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    }

    void begin()
    return () => {
      isLeft = true
      clearTimeout(again)
      // One that is being opened is closed then: browsers report it as failed otherwise.
      if (socket?.readyState !== WebSocket.CONNECTING) socket?.close()
      setLog((now) => ({ ...now, isOpen: false }))
    }
  }, [wanted, isPaused, sessionOf, client])
  return log
}

async function listEarlier(filters: LogFilters): Promise<Record<string, unknown>[]> {
  const query = { ...filters, limit: EARLIER_LINES } as { level?: 'info'; limit: number }
  return (await answerOf(api.GET('/api/v1/logs', { params: { query } }))).logs
}
