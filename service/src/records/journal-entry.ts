import { roundedUsd } from '../platform/realtime/price.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CallHolder } from './call-holder.ts'
import type { SessionId, ToolStatus, TurnRole } from './call-values.ts'
import { storable } from './storable.ts'
import { type FunctionCallRow, NOT_ANSWERED, type TurnKey, type TurnRow } from './transcript-store.ts'
import { type JournaledTimeline, storedTimeline } from './turn-timeline.ts'

/**
 * A call that a journal writes about. Who has it is looked at when an entry is written, not when it is made: what was said before
 * a session changed its stream is said by it all the same.
 */
export type JournaledCall = CallHolder & { tenant: TenantRuntime; callSid: string; sessionId: SessionId }

/**
 * One finished piece of the conversation. Times are ms since the session's start; `heardMs` is null for what was not audio of
 * ours. `seq` orders the turns of a session; gaps are fine. The same item again replaces the turn, also when all that changed
 * is its number: until the others have been written again, too, two may have the same one.
 */
export type JournaledTurn = {
  itemId: string
  seq: number
  role: TurnRole
  /** The agent that has said it; not given of others, or where that is not known. */
  agentName?: string
  /** 65,536 characters of it are kept. */
  text: string
  /** What was generated of it and never heard; so many characters of it, too. */
  unheard: string
  startMs: number
  endMs: number
  interrupted: boolean
  sentMs: number | null
  heardMs: number | null
  /** What it cost to say, in USD; not given where that is not known. */
  costUsd?: number
  /** Of an answer to the caller: how it came about. */
  timeline?: JournaledTimeline
}

/**
 * A tool call. `argumentsText` is what the model sent, `result` what it was told; null with the status `timeout` for one that has
 * begun: should nothing more be written, it is not known whether it was done.
 */
export type JournaledTool = {
  callId: string
  seq: number
  name: string
  argumentsText: string
  result: string | null
  status: ToolStatus
  startMs: number
  durationMs: number
}

/** Something to be written. Of two with one `key` the later one takes the place of the other. */
export type JournalEntry = { call: JournaledCall; key: string; sizeBytes: number } & (
  | { type: 'turn'; turn: TurnRow }
  | { type: 'forget'; turn: TurnKey }
  | { type: 'tool'; tool: FunctionCallRow }
)

/** What an entry weighs beside its texts. */
const BASE_BYTES = 512

/** An hour of talk. The index over the words refuses a text of a megabyte whole. */
export const MAX_TURN_CHARS = 65_536

/** @returns as much of a turn's text as is kept of it: its first 65,536 characters. */
export function cutTurn(text: string): string {
  return text.slice(0, MAX_TURN_CHARS).toWellFormed()
}

/** @returns the entry that writes the turn. */
export function turnEntry(call: JournaledCall, turn: JournaledTurn): JournalEntry {
  const row: TurnRow = {
    ...keyOf(call, turn.itemId),
    seq: turn.seq,
    role: turn.role,
    agent_name: turn.agentName === undefined ? null : storable(turn.agentName),
    text: storable(cutTurn(turn.text)),
    unheard: storable(cutTurn(turn.unheard)),
    start_ms: Math.round(turn.startMs),
    end_ms: Math.round(turn.endMs),
    interrupted: turn.interrupted,
    sent_ms: turn.sentMs === null ? null : Math.round(turn.sentMs),
    heard_ms: turn.heardMs === null ? null : Math.round(turn.heardMs),
    cost_usd: turn.costUsd === undefined ? null : roundedUsd(turn.costUsd),
    timeline: turn.timeline ? storedTimeline(turn.timeline) : null,
  }
  return {
    type: 'turn',
    call,
    key: entryKey(call, turn.itemId),
    sizeBytes: weigh(row.item_id, row.text, row.unheard),
    turn: row,
  }
}

/** @returns the entry that takes the item's turn out of the conversation. */
export function forgetEntry(call: JournaledCall, itemId: string): JournalEntry {
  return { type: 'forget', call, key: entryKey(call, itemId), sizeBytes: weigh(itemId), turn: keyOf(call, itemId) }
}

/** @returns the entry that writes the tool call. */
export function toolEntry(call: JournaledCall, tool: JournaledTool): JournalEntry {
  const row: FunctionCallRow = {
    tenant_id: call.tenant.tenant_id,
    session_id: call.sessionId,
    call_id: storable(tool.callId),
    seq: tool.seq,
    name: storable(tool.name),
    arguments: storable(tool.argumentsText),
    result: tool.result === null ? NOT_ANSWERED : storable(tool.result),
    status: tool.status,
    start_ms: Math.round(tool.startMs),
    duration_ms: Math.round(tool.durationMs),
  }
  const key = `${call.sessionId} tool ${row.call_id}`
  return { type: 'tool', call, key, sizeBytes: weigh(row.call_id, row.name, row.arguments, row.result), tool: row }
}

function keyOf(call: JournaledCall, itemId: string): TurnKey {
  return { tenant_id: call.tenant.tenant_id, session_id: call.sessionId, item_id: storable(itemId) }
}

function entryKey(call: JournaledCall, itemId: string): string {
  return `${call.sessionId} item ${itemId}`
}

/** JavaScript keeps a character in two bytes at most. */
function weigh(...texts: string[]): number {
  return texts.reduce((bytes, { length }) => bytes + 2 * length, BASE_BYTES)
}
