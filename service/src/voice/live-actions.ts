import { AppError, invalidRequest } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { escalate } from './live-notes.ts'
import type { LiveCommand, LiveSession } from './live-sessions.ts'

/** What a supervisor asks for. */
export type AskedAction = {
  action: string
  supervisor?: string
  target?: string
  text?: string
  reason?: string
  note?: string
  metadata?: Record<string, unknown>
}

/** What a supervisor did. */
export type LiveAction = {
  id: string
  action: string
  supervisor: string | null
  target: string | null
  reason: string | null
  note: string | null
  metadata: Record<string, unknown>
  at: Date
}

/** What an action does: checks what was asked for, and returns how it is done. */
type Doing = (asked: AskedAction) => (session: LiveSession) => void | Promise<void>

const command = (made: LiveCommand) => (session: LiveSession) => session.command(made)

const ACTIONS: Record<string, Doing> = {
  note(asked) {
    required('note', asked.note)
    return () => undefined
  },
  say({ text }) {
    const words = required('text', text)
    return (session) => {
      if (session.isTakenOver)
        throw new AppError('conflict', 'A person has the call: the agent says nothing meanwhile.')
      if (session.isBeingPutThrough)
        throw new AppError('conflict', 'The call is being put through: the agent says nothing meanwhile.')
      session.command({ type: 'say', text: words })
    }
  },
  whisper: ({ text }) => command({ type: 'whisper', text: required('text', text) }),
  mute: () => command({ type: 'mute' }),
  unmute: () => command({ type: 'unmute' }),
  release: () => (session) => {
    if (!session.isTakenOver) throw new AppError('conflict', 'Nobody has taken the call over.')
    session.command({ type: 'release' })
  },
  escalate:
    ({ target = null }) =>
    (session) =>
      escalate(session, target),
  transfer({ target = '', reason }) {
    if (target === '') throw invalidRequest([{ path: '/body/target', message: 'is required for this action' }])
    return (session) => session.transfers.transfer({ target, summary: reason ?? '', isWarm: false }, false)
  },
  end_call: () => command({ type: 'end', reason: 'supervisor' }),
}

/**
 * Does it at once, but for a transfer: that is done when the carrier has begun with it. What comes of an end its carrier says later.
 *
 * @throws AppError `invalid_request` for an action that there is not, or one without its words; `conflict` when the call is
 * ending already; `upstream_failed` when its carrier does not do it.
 */
export async function actOn(session: LiveSession, asked: AskedAction, nowMs: number): Promise<LiveAction> {
  const doing = Object.hasOwn(ACTIONS, asked.action) ? ACTIONS[asked.action] : undefined
  if (!doing) throw invalidRequest([{ path: '/body/action', message: wantedInPlaceOf(asked.action) }])
  const act = doing(asked)
  if (isEnding(session.phase)) throw new AppError('conflict', 'The call is ending.')
  await act(session)
  return {
    id: newId<string>(nowMs),
    action: asked.action,
    supervisor: asked.supervisor ?? null,
    target: asked.target ?? null,
    reason: asked.reason ?? null,
    note: asked.note ?? null,
    metadata: asked.metadata ?? {},
    at: new Date(nowMs),
  }
}

/** A takeover is kept as an action, and shown as one; but it takes a line of its own. */
function wantedInPlaceOf(action: string): string {
  const wanted = `must be one of ${Object.keys(ACTIONS).join(', ')}`
  return action === 'takeover' ? `${wanted}; POST …/sessions/{stream_sid}/takeover takes a call over` : wanted
}

/** Whether nothing is done to a call in this phase any more. */
export function isEnding(phase: string): boolean {
  return phase === 'draining' || phase === 'ended'
}

/** @throws AppError `invalid_request` when there is nothing in it. */
function required(name: 'text' | 'note', words = ''): string {
  if (words.trim() === '') throw invalidRequest([{ path: `/body/${name}`, message: 'is required for this action' }])
  return words
}
