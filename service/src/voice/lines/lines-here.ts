import { AppError } from '../../kernel/errors.ts'
import { noSuchSession } from '../live-calls.ts'
import type { LiveSessions } from '../live-sessions.ts'
import type { OpenLine } from './line.ts'

/** Lines into the calls of this process. */
export function makeLinesHere(live: Pick<LiveSessions, 'find'>): OpenLine {
  return async ({ tenantId, streamSid, kind, supervisor = null }, listener) => {
    const session = live.find(tenantId, streamSid)
    if (!session) throw noSuchSession()
    if (session.phase === 'ended') throw new AppError('conflict', 'The call is over.')
    return kind === 'listen' ? session.lines.listen(listener) : session.lines.takeOver(listener, supervisor)
  }
}
