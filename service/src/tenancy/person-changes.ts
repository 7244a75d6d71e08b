import type { UserId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { AdminSessions } from './admin-sessions.ts'

const TOPIC = 'person-changed'

type Deps = { bus: Bus; sessions: Pick<AdminSessions, 'forget'> }

/** Who is told that a person was changed or removed. */
export type PersonChanges = {
  /** To be called when the change is committed: at once for this node, by a message for the others. */
  changed(userId: UserId): void
  close(): void
}

/**
 * Makes all nodes forget who a person was lately when that was changed on one. Who misses the message finds out from the database,
 * and while that is away by the age of what it remembers, within ten minutes.
 */
export function makePersonChanges({ bus, sessions }: Deps): PersonChanges {
  const close = bus.subscribe(TOPIC, (userId) => {
    if (typeof userId === 'string') sessions.forget(userId)
  })
  return {
    changed(userId) {
      sessions.forget(userId)
      bus.publish(TOPIC, userId)
    },
    close,
  }
}
