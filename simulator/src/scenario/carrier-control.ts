import type { Telephones } from '../carrier/carrier.ts'
import type { RestRequest } from '../carrier/rest-request.ts'
import type { SimulatedCall } from '../carrier/simulated-call.ts'
import { ModelError } from '../model/model-error.ts'
import { integer, object, type Shaped, text } from '../model/shape.ts'
import { callerOf } from './caller-of.ts'
import { ScenarioError } from './scenario-error.ts'
import { callerShape } from './scenario-shape.ts'

type Answer = { status: number; body: Record<string, unknown> }

const URL_CHARS_MAX = 2_000
const TEXT_CHARS_MAX = 2_000
const SECONDS_MAX = 7_200

const ringShape = object(
  { to: text(100), voice_url: text(URL_CHARS_MAX) },
  {
    from: text(100),
    voice_fallback_url: text(URL_CHARS_MAX),
    status_callback: text(URL_CHARS_MAX),
    max_seconds: integer(1, SECONDS_MAX),
    /** As in a scenario; without it, somebody who stays and says nothing. */
    caller: callerShape,
  },
)
const sayShape = object({ say: text(TEXT_CHARS_MAX) }, {})

const USUAL_FROM = '+15550100100'
const SILENT_CALLER = { stays: true }

/**
 * Answers the carrier's control surface, for who cannot call its functions: `POST /control/ring` rings a number and gives
 * the call's sid, `GET /control/calls/{sid}` tells how it goes, `POST …/say {say}` lets the caller say something more,
 * `POST …/hang-up` ends it. Bodies and answers are JSON.
 */
export async function answerCarrierControl(telephones: Telephones, request: RestRequest): Promise<Answer> {
  try {
    return await answer(telephones, request)
  } catch (error) {
    const isMistake = error instanceof ModelError || error instanceof ScenarioError || error instanceof SyntaxError
    if (!isMistake) throw error
    return { status: 400, body: { error: error.message } }
  }
}

async function answer(telephones: Telephones, { method, path, text: body }: RestRequest): Promise<Answer> {
  const isPost = method === 'POST'
  if (path === '/control/ring') return isPost ? ring(telephones, JSON.parse(body)) : wrongMethod('POST')
  const [, sid, action] = /^\/control\/calls\/(\w+)(?:\/(say|hang-up))?$/.exec(path) ?? []
  const call = telephones.calls.find((candidate) => candidate.sid === sid)
  if (!call) return { status: 404, body: { error: 'There is no such call, or nothing at this path.' } }
  if (!action) return method === 'GET' ? { status: 200, body: viewOf(call) } : wrongMethod('GET')
  if (!isPost) return wrongMethod('POST')
  return action === 'say' ? say(call, JSON.parse(body)) : hangUp(call)
}

function ring(telephones: Telephones, body: unknown): Answer {
  const wanted = ringShape(body, '')
  expectAddresses(wanted)
  const call = telephones.ring({
    from: wanted.from ?? USUAL_FROM,
    to: wanted.to,
    caller: callerOf(wanted.caller ?? SILENT_CALLER),
    voiceUrl: wanted.voice_url,
    ...(wanted.voice_fallback_url && { voiceFallbackUrl: wanted.voice_fallback_url }),
    ...(wanted.status_callback && { statusCallback: wanted.status_callback }),
    ...(wanted.max_seconds && { timeLimitMs: wanted.max_seconds * 1_000 }),
  })
  return { status: 201, body: viewOf(call) }
}

function expectAddresses(wanted: Shaped<typeof ringShape>): void {
  for (const name of ['voice_url', 'voice_fallback_url', 'status_callback'] as const) {
    const url = wanted[name]
    if (url !== undefined && !/^https?:/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw new ModelError('invalid_value', `Invalid value: '${name}' must be an http or https address.`, name)
  }
}

async function say(call: SimulatedCall, body: unknown): Promise<Answer> {
  const said = await call.say(sayShape(body, '').say)
  if (said) return { status: 200, body: { ok: true } }
  return { status: 409, body: { error: 'The caller cannot speak: the call is not answered, over, or too much waits.' } }
}

function hangUp(call: SimulatedCall): Answer {
  call.hangUp()
  return { status: 200, body: viewOf(call) }
}

function viewOf({ sid, from, to, direction, status, events }: SimulatedCall): Record<string, unknown> {
  return { sid, from, to, direction, status, events }
}

function wrongMethod(method: string): Answer {
  return { status: 405, body: { error: `Use ${method}.` } }
}
