import type { preValidationHookHandler } from 'fastify'
import { UUID } from './formats.ts'

const IS_ID = /(^|_)id$/

/**
 * The hook that reads a UUID in a path as it is written everywhere else. In capitals it is the same one; kept so, what is written
 * down by it, as in the audit log, would not be found by it.
 */
export const readPathIds: preValidationHookHandler = (request, _reply, done) => {
  const params = request.params as Record<string, string>
  for (const [name, text] of Object.entries(params)) {
    if (IS_ID.test(name) && UUID.test(text)) params[name] = text.toLowerCase()
  }
  done()
}
