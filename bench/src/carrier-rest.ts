import type { IncomingMessage, ServerResponse } from 'node:http'
import { ACCOUNT_SID } from './carrier.ts'

/** What the REST double has to know of the calls, and what it can make of them. */
export type CallControl = {
  isLive(callSid: string): boolean
  /** The service ends the call, or takes it away from its stream. */
  take(callSid: string): void
}

const CALL_PATH = /\/Calls\/(CA[0-9a-f]{32})\.json$/

const SPEECH_PATH = '/v1/audio/speech'
/** A second of a tone, 16 bits at 24 kHz. */
const SPEECH = Buffer.from(Int16Array.from({ length: 24_000 }, (_, at) => 8_000 * Math.sin(at / 8)).buffer)

/**
 * The carrier's REST resource of a call, as far as a service needs it: look it up, end it, give it other instructions. And, at
 * its provider's path, a model that speaks clips.
 */
export async function answerRest(request: IncomingMessage, response: ServerResponse, calls: CallControl) {
  for await (const _chunk of request);
  if (request.url === SPEECH_PATH) return void response.writeHead(200, { 'content-type': 'audio/pcm' }).end(SPEECH)
  const [, callSid] = CALL_PATH.exec(request.url ?? '') ?? []
  if (callSid === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: 404, code: 20404, message: 'not found' }))
    return
  }
  if (request.method === 'POST') calls.take(callSid)
  const status = calls.isLive(callSid) ? 'in-progress' : 'completed'
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ sid: callSid, account_sid: ACCOUNT_SID, status, from: '', to: '', duration: '0' }))
}
