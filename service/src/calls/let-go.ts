import type { TenantId } from '../kernel/ids.ts'
import type { LiveSession, LiveSessions } from '../voice/live-sessions.ts'

/**
 * Stops to serve a call that is not this node's any more, without ending it: of `epoch` somebody else has it. A session that has
 * come to that epoch itself, by another stream, is not touched.
 */
export type LetGo = (tenantId: TenantId, callSid: string, epoch: number) => void

export function makeLetGo(live: Pick<LiveSessions, 'findCall'>): LetGo {
  return (tenantId, callSid, epoch) => {
    const session = live.findCall(tenantId, callSid)
    if (isEarlier(session, epoch)) session?.command({ type: 'taken' })
  }
}

/** Whether there is a session that has its call of an earlier epoch; one that no other stream can take is of none. */
export function isEarlier(session: LiveSession | null, epoch: number): boolean {
  return session !== null && (session.hold === null || session.hold.epoch < epoch)
}
