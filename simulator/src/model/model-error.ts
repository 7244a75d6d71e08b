/** What the model's server says about a client event that it refuses; sent as an `error` event, the session goes on. */
export type ErrorBody = {
  type: 'invalid_request_error' | 'server_error'
  code: string | null
  message: string
  param: string | null
  event_id: string | null
}

/** A refusal of one client event. `code` is for programs, `param` names the offending field (`session.voice`). */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: string
  readonly param: string | null

  constructor(code: string, message: string, param: string | null = null) {
    super(message)
    this.code = code
    this.param = param
  }
}

/** The body of the `error` event for a refusal; `eventId` is the id that the client gave the refused event. */
export function errorBody(error: ModelError, eventId: string | null): ErrorBody {
  const type = error.code === 'server_error' ? 'server_error' : 'invalid_request_error'
  return { type, code: error.code, message: error.message, param: error.param, event_id: eventId }
}
