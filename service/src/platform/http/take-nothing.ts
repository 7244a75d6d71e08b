import type { preValidationHookHandler } from 'fastify'

/** Where nothing has to be said, a request needs no body: it is taken for an empty one. */
export const takeNothing: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {}
  done()
}
