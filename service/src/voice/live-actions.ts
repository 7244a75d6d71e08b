import { AppError, invalidRequest } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
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

const ACTIONS: Record<string, (asked: AskedAction) => LiveCommand> = {
  say: (asked) => ({ type: 'say', text: textOf(asked) }),
  whisper: (asked) => ({ type: 'whisper', text: textOf(asked) }),
  end_call: () => ({ type: 'end', reason: 'supervisor' }),
}

/**
 * Does it at once.
 *
 * @throws AppError `invalid_request` for an action that there is not, or one without its text; `conflict` when the call is
 * ending already.
 */
export function actOn(session: LiveSession, asked: AskedAction, nowMs: number): LiveAction {
  const commandOf = Object.hasOwn(ACTIONS, asked.action) ? ACTIONS[asked.action] : undefined
  if (!commandOf) {
    const message = `must be one of ${Object.keys(ACTIONS).join(', ')}`
    throw invalidRequest([{ path: '/body/action', message }])
  }
  const command = commandOf(asked)
  if (session.phase === 'draining' || session.phase === 'ended') throw new AppError('conflict', 'The call is ending.')
  session.command(command)
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

/** @throws AppError `invalid_request` when there is nothing to say. */
function textOf({ text = '' }: AskedAction): string {
  if (text.trim() === '') throw invalidRequest([{ path: '/body/text', message: 'is required for this action' }])
  return text
}
