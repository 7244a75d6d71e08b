import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/**
 * What the framework logs by itself: nothing about requests as such, and what goes wrong beyond the reach of the error
 * handler in words and fields of ours. (Its own lines hold the reply, and with that the headers of the request.)
 */
export class FrameworkLines extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' })
  }

  /** Whoever leaves a live page, or a download, does so in the middle of an answer: that is no trouble. */
  override streamError(err: NodeJS.ErrnoException, request: FastifyRequest): void {
    if (err.code === 'ERR_STREAM_PREMATURE_CLOSE') request.log.debug({}, 'an answer was not heard to its end')
    else request.log.warn({ err }, 'answer broke off')
  }

  override writeHeadError(err: Error, request: FastifyRequest): void {
    request.log.error({ err }, 'headers of an answer refused')
  }

  override serializerError(err: Error, request: FastifyRequest, _reply: FastifyReply): void {
    request.log.error({ err }, 'answer not serialised')
  }
}
