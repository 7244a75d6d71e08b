import type { IncomingMessage, ServerResponse } from 'node:http'
import { readVoiceFaultPlans } from '../voices/voice-faults.ts'
import type { Voices } from '../voices/voices.ts'
import { type FaultPlan, readFaultPlans, readFaults } from './faults.ts'
import { ModelError } from './model-error.ts'
import { readScript } from './script.ts'
import type { ScriptBook } from './script-book.ts'
import type { ModelSession } from './session.ts'

const BODY_BYTES_MAX = 1024 * 1024

/** What of a model can be seen and set from outside. */
type Controlled = {
  readonly sessions: readonly ModelSession[]
  readonly scripts: ScriptBook
  readonly voices: Voices
  setFaults(plans: FaultPlan[]): void
}

type Answer = { status: number; body: unknown }

/**
 * Answers the model's control surface, for who cannot call its functions: `GET /control/sessions` and `/control/voice-streams`,
 * `PUT /control/voice-faults`, `PUT /control/sessions/{id}/faults`, `PUT /control/faults`, `PUT` and `DELETE /control/script` (what sessions follow
 * that name none) and `/control/scripts/{name}`. Bodies are JSON of at most 1 MiB; every answer is JSON.
 */
export async function answerControl(
  model: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answered = await answer(model, request).catch(() => null)
  // Only a request that broke off gets here; there is nobody left to tell.
  if (!answered) {
    response.destroy()
    return
  }
  const { status, body } = answered
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function answer(model: Controlled, request: IncomingMessage): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const path = pathname.split('/').filter((part) => part !== '')
  try {
    if (request.method === 'GET') return read(model, path)
    if (request.method === 'DELETE') return remove(model, path)
    if (request.method === 'PUT') return write(model, path, JSON.parse(await bodyOf(request)))
    return { status: 405, body: { error: 'Use GET, PUT or DELETE.' } }
  } catch (error) {
    if (error instanceof ModelError || error instanceof SyntaxError)
      return { status: 400, body: { error: error.message } }
    throw error
  }
}

function read(model: Controlled, path: string[]): Answer {
  if (path.join('/') === 'control/voice-streams') return { status: 200, body: { streams: model.voices.streams } }
  if (path.join('/') !== 'control/sessions') return notFound()
  return { status: 200, body: { sessions: model.sessions.map((session) => session.record) } }
}

function write(model: Controlled, path: string[], body: unknown): Answer {
  const [control, subject, name, detail] = path
  if (control !== 'control') return notFound()
  if (subject === 'faults' && path.length === 2) model.setFaults(readFaultPlans(body, 'faults'))
  else if (subject === 'voice-faults' && path.length === 2) model.voices.setFaults(readVoiceFaultPlans(body, 'faults'))
  else if (subject === 'script' && path.length === 2) model.scripts.setDefault(readScript(body, 'script'))
  else if (subject === 'scripts' && name && path.length === 3) model.scripts.set(name, readScript(body, 'script'))
  else if (subject === 'sessions' && name && detail === 'faults') return setSessionFaults(model, name, body)
  else return notFound()
  return { status: 200, body: { ok: true } }
}

function setSessionFaults(model: Controlled, id: string, body: unknown): Answer {
  const session = model.sessions.find((candidate) => candidate.record.id === id)
  if (!session) return notFound()
  session.setFaults(readFaults(body, 'faults'))
  return { status: 200, body: { ok: true } }
}

function remove(model: Controlled, path: string[]): Answer {
  const [control, subject, name] = path
  if (control !== 'control') return notFound()
  if (subject === 'script' && path.length === 2) model.scripts.setDefault(null)
  else if (subject !== 'scripts' || !name || !model.scripts.delete(name)) return notFound()
  return { status: 200, body: { ok: true } }
}

function notFound(): Answer {
  return { status: 404, body: { error: 'There is nothing here. Sessions open at /v1/realtime by websocket.' } }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new ModelError('too_large', 'The body is larger than 1 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
