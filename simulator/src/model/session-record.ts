import type { ErrorBody } from './model-error.ts'
import type { ResponseStatus } from './response-request.ts'

const ENTRIES_MAX = 2_000

/** What one session did, for reports and tests. Instants are milliseconds since the epoch; lists keep 2,000 entries. */
export type SessionRecord = {
  id: string
  model: string
  openedAtMs: number
  closedAtMs: number | null
  /** The code with which the client's side closed, or 1006 for a connection that was lost. */
  closeCode: number | null
  /** How many client events came, by type. */
  received: Record<string, number>
  /** What the caller said, turn by turn: null for audio that nobody here synthesised. Times count appended audio. */
  heard: { itemId: string; text: string | null; startMs: number; endMs: number }[]
  /** What the model generated, heard or not. */
  said: { responseId: string; text: string; status: ResponseStatus; atMs: number }[]
  /** The functions that the model called, and what they gave; null until they did. */
  calls: { callId: string; name: string; arguments: string; output: string | null }[]
  truncations: { itemId: string; audioEndMs: number }[]
  /** The refusals that were sent. */
  errors: ErrorBody[]
  /** What a script wanted and could not have. */
  problems: string[]
}

/** A record of a session that opens now. */
export function newRecord(id: string, model: string): SessionRecord {
  return {
    id,
    model,
    openedAtMs: Date.now(),
    closedAtMs: null,
    closeCode: null,
    received: {},
    heard: [],
    said: [],
    calls: [],
    truncations: [],
    errors: [],
    problems: [],
  }
}

/** Adds an entry to a list of a record, which lets go of its oldest beyond its bound. */
export function note<T>(list: T[], entry: T): void {
  list.push(entry)
  if (list.length > ENTRIES_MAX) list.shift()
}
