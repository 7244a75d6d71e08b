import type { preValidationAsyncHookHandler } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { knownActorOf } from './guards.ts'

/**
 * Makes the hook for routes whose body says who acts: for somebody who is logged in it says who they are, whether they say it or
 * not. The holder of a key says who acts in words of their own.
 *
 * @throws AppError `forbidden` for a person who says that they are somebody else.
 */
export function actingAs(field: 'operator' | 'by' | 'supervisor'): preValidationAsyncHookHandler {
  return async (request) => {
    const actor = knownActorOf(request)
    if (actor?.kind !== 'person') return
    request.body ??= {}
    // What is no object is refused by the schema.
    if (typeof request.body !== 'object' || request.body === null) return
    const body = request.body as Record<string, unknown>
    const said = body[field] ?? actor.name
    if (said !== actor.name) throw new AppError('forbidden', `You act as ${actor.name}: leave ${field} out.`)
    body[field] = actor.name
  }
}
