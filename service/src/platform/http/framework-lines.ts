import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/**
 * What the framework logs by itself: nothing about requests as such, and what goes wrong beyond the reach of the error
 * handler in words and fields of ours. (Its own lines hold the reply, and with that the headers of the request.)
 */
export class FrameworkLines extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' })
  }

  override streamError(err: Error, request: FastifyRequest): void {
    request.log.warn({ err }, 'answer broke off')
  }

  override writeHeadError(err: Error, request: FastifyRequest): void {
    request.log.error({ err }, 'headers of an answer refused')
  }

  override serializerError(err: Error, request: FastifyRequest, _reply: FastifyReply): void {
    request.log.error({ err }, 'answer not serialised')
  }
}
