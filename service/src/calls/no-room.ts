import { AppError } from '../kernel/errors.ts'
import type { NoRoom } from '../voice/live-capacity.ts'

/** What whoever asks for a call is told where there is no room for it: a node that stops will have none later either. */
export function noRoom(why: NoRoom): AppError {
  const sentence =
    why === 'stopping'
      ? 'The node that was asked is stopping: ask again, and another one answers.'
      : 'There is no room for another call now.'
  return new AppError('unavailable', sentence)
}
