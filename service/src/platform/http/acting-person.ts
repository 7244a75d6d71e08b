import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { knownActorOf } from './guards.ts'

/** What the person is called who asks; null for the holder of a key. */
export function personOf(request: FastifyRequest): string | null {
  const actor = knownActorOf(request)
  return actor?.kind === 'person' ? actor.name : null
}

/**
 * Makes the hook for routes whose body says who acts: for somebody who is logged in it says who they are, whether they say it or
 * not. The holder of a key says who acts in words of their own.
 *
 * @throws AppError `forbidden` for a person who says that they are somebody else.
 */
export function actingAs(field: 'operator' | 'by' | 'supervisor'): preValidationAsyncHookHandler {
  return async (request) => {
    const name = personOf(request)
    if (name === null) return
    request.body ??= {}
    // What is no object is refused by the schema.
    if (typeof request.body !== 'object' || request.body === null) return
    const body = request.body as Record<string, unknown>
    const said = body[field] ?? name
    if (said !== name) throw new AppError('forbidden', `You act as ${name}: leave ${field} out.`)
    body[field] = name
  }
}
