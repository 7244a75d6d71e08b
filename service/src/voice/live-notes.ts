import { roundedUsd } from '../platform/realtime/price.ts'
import { cutTurn } from '../records/journal-entry.ts'
import { storedTimeline } from '../records/turn-timeline.ts'
import type { LiveEvents } from './live-events.ts'
import type { LiveSession } from './live-sessions.ts'
import type { EndReason, LiveNote, Turn } from './session/events.ts'

/** Tells those who watch a call that a piece of the conversation is finished; the same item again replaces it. */
export function tellTurn(events: LiveEvents, turn: Turn): void {
  events.publish('turn', {
    item_id: turn.itemId,
    seq: turn.seq,
    role: turn.role,
    ...(turn.agentName !== undefined && { agent_name: turn.agentName }),
    text: cutTurn(turn.text),
    unheard: cutTurn(turn.unheard),
    start_ms: turn.startMs,
    end_ms: turn.endMs,
    interrupted: turn.interrupted,
    ...(turn.costUsd !== undefined && { cost_usd: roundedUsd(turn.costUsd) }),
    ...(turn.timeline !== undefined && { timeline: storedTimeline(turn.timeline) }),
  })
}

/** Notes for all who look at the call that a person is wanted in it, and whom. */
export function escalate(session: LiveSession, target: string | null): void {
  session.escalation = { target }
  session.events.publish('state', { state: session.phase, escalated: true, escalation_target: target })
}

/** Tells those who watch a call that it is over. */
export function tellEnd(events: LiveEvents, reason: EndReason, durationMs: number): void {
  events.publish('ended', { end_reason: reason, duration_ms: Math.round(durationMs) })
}

/** Tells those who watch a call what the session notes, as far as it is meant for them. */
export function tellNote(events: LiveEvents, note: LiveNote): void {
  switch (note.type) {
    case 'state':
      return events.publish('state', { state: note.state })
    case 'taken_over':
      return events.publish('state', { state: note.state, taken_over: note.isOn })
    case 'muted':
      return events.publish('state', { state: note.state, muted: note.isOn })
    case 'answered':
      return events.publish('state', {
        ...{ state: note.state, answered_by: note.by, answered_by_source: note.from },
      })
    case 'turn_delta':
      return events.publish('turn_delta', { item_id: note.itemId, role: note.role, text: cutTurn(note.text) })
    case 'tool':
      return events.publish('tool', { call_id: note.callId, name: note.name, status: note.status })
    case 'latency':
      return events.publish('latency', { response_ms: Math.round(note.responseMs) })
    default:
      return
  }
}
