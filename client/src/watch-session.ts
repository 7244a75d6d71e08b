import type { Methods } from './answers.ts'
import { readEvents } from './event-stream.ts'
import type { LiveStreams } from './live-streams.ts'
import { callOf, nextStreamOf } from './lost-call.ts'
import { onAbort } from './on-abort.ts'
import { pause, upToTwice } from './pause.ts'
import type { components } from './public-api.ts'
import { askedMs, mayPass, ParleyError } from './refusal.ts'

type Turn = components['schemas']['VoiceSession']['transcript'][number]
type OfAnAgent = 'agent_name' | 'cost_usd' | 'timeline'
type EndReason = components['schemas']['VoiceSession']['end_reason']

type Told = {
  /** `waiting`, `talking`, `detached`, `draining`, `ended`; the other fields when they have changed. */
  state: {
    state: string
    muted?: boolean
    taken_over?: boolean
    escalated?: boolean
    escalation_target?: string | null
    answered_by?: string
    answered_by_source?: components['schemas']['CallLog']['answered_by_source']
  }
  /** Something was said, of an agent by whom. The same `item_id` again replaces it. */
  turn: Omit<Turn, OfAnAgent> & Partial<Pick<Turn, OfAnAgent>> & { item_id: string }
  /** More words of what is being said. */
  turn_delta: { item_id: string; role: Turn['role']; text: string }
  tool: { call_id: string; name: string; status: 'started' | 'ok' | 'error' | 'timeout' }
  /** How long the caller waited for the answer. */
  latency: { response_ms: number }
  /** The last one of its stream: the call goes on with another one, and so do the events. */
  moved: { call_sid: string }
  /** The last one. */
  ended: { end_reason: NonNullable<EndReason>; duration_ms: number }
}

/** What happens in a live session: `event` says what `data` holds. Later versions may have events of other names. */
export type SessionEvent = { [Name in keyof Told]: { id: string; event: Name; data: Told[Name] } }[keyof Told]

export type WatchOptions = {
  /** The `id` of an event that was read: what came after it is told. Without it all that is kept of the call, from its oldest on. */
  lastEventId?: string
  /** Ends it: the loop throws the signal's reason. */
  signal?: AbortSignal
}

const PATH = '/api/v1/sessions/{stream_sid}/events'
/** The service gives a sign of life every 15 s. */
const MAX_SILENCE_MS = 45_000
/** Between one connection and the next at least, as often as none can be had. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000]

/**
 * The events of a live session until its call is over. A connection that is lost, or silent for 45 s, or refused for the time being
 * (408, 429, 5xx), is made anew, and the events go on behind the last one; those of a call that goes on with another stream, at
 * another node, from the first one there. The loop ends with the event `ended`; without it where the call was over before a lost
 * connection could be made again.
 * @throws ParleyError for what is refused for good, such as a session that is not live; and, as what was wrong with the last of
 * them, when six connections in a row were made in vain, over half a minute at least.
 */
export async function* watchSession(
  client: Asked,
  streamSid: string,
  { lastEventId, signal }: WatchOptions = {},
): AsyncGenerator<SessionEvent, void, undefined> {
  const watched: Watched = {
    ...{ streamSid, last: lastEventId, callSid: null },
    ...{ hasBegun: false, inVain: 0, tried: new Set() },
  }
  for (;;) {
    const connection = new Connection(signal)
    try {
      for await (const event of connection.events(client.parley, watched)) {
        watched.last = event.id
        if (event.event === 'moved') watched.callSid = event.data.call_sid
        yield event
        if (event.event === 'ended') return
        signal?.throwIfAborted()
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (connection.wasHeard) Object.assign(watched, { hasBegun: true, inVain: 0, tried: new Set() })
      if (!(await goesOn(client, watched, { error, signal }))) return
    } finally {
      connection.close()
    }
  }
}

/** Who is asked; `live` is shared by all calls that are watched. */
type Asked = { parley: Methods; live: LiveStreams }

/** What is watched, and how far that has come. */
type Watched = {
  streamSid: string
  /** The event behind which it goes on. */
  last: string | undefined
  /** Null until it is known. */
  callSid: string | null
  hasBegun: boolean
  /** How many connections in a row nothing came by. */
  inVain: number
  /** Streams that were not there since something came. */
  tried: Set<string>
}

type Lost = { error: unknown; signal: AbortSignal | undefined }

/**
 * After a connection that was lost: waits as long as is due, or until the call has another stream. False where it is over.
 * @throws Error for one too many, or that is refused for good.
 */
async function goesOn(client: Asked, watched: Watched, { error, signal }: Lost): Promise<boolean> {
  const isGone = watched.hasBegun && isRefusal(error, 404)
  if (isGone) {
    const { callSid, streamSid } = watched
    watched.tried.add(streamSid)
    const stream = callSid && (await nextStreamOf(client, { callSid, streamSid }, signal))
    if (!stream) return false
    if (stream !== watched.streamSid) {
      Object.assign(watched, { streamSid: stream, last: undefined })
      // Where two are listed and neither answers, the first one comes again: that is in vain, too.
      if (!watched.tried.has(stream)) return true
    }
  }
  const pauseMs = PAUSES_MS[watched.inVain++]
  if (pauseMs === undefined || !(isGone || mayPass(error))) throw error
  await pause(Math.max(upToTwice(pauseMs), askedMs(error)), signal)
  return true
}

/** One request of the events, until it is lost. */
class Connection {
  wasHeard = false
  readonly #ending = new AbortController()
  #silence: ReturnType<typeof setTimeout>
  readonly #forget: () => void

  constructor(signal: AbortSignal | undefined) {
    this.#silence = this.#endWhenSilent()
    this.#forget = onAbort(signal, () => this.#ending.abort())
  }

  /** @throws Error in any case, unless the events are left: only who reads them knows which is the last. */
  async *events(parley: Methods, watched: Watched) {
    const { streamSid, last: lastEventId } = watched
    const { data, error, response } = await parley.GET(PATH, {
      params: {
        path: { stream_sid: streamSid },
        header: lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId },
      },
      signal: this.#ending.signal,
    })
    if (error) throw new ParleyError(error, response)
    const type = response.headers.get('content-type')
    if (!type?.startsWith('text/event-stream'))
      throw new Error(
        `What answered (${response.status}, ${type}) is no stream of events: somebody on the way may have.`,
      )
    if (data && watched.callSid === null) void this.#askCall(parley, watched)
    if (data) for await (const event of readEvents(data, () => this.#heard())) yield event as SessionEvent
    throw new Error('The events of the session broke off.')
  }

  /** Beside the events, which nothing holds up. Once the node is lost nobody can be asked any more. */
  async #askCall(parley: Methods, watched: Watched): Promise<void> {
    const callSid = await callOf(parley, watched.streamSid, this.#ending.signal)
    watched.callSid ??= callSid
  }

  #heard(): void {
    this.wasHeard = true
    clearTimeout(this.#silence)
    this.#silence = this.#endWhenSilent()
  }

  /** Anew each time: only Node's own timers can be wound up again. */
  #endWhenSilent(): ReturnType<typeof setTimeout> {
    const silence = `There were no events of the session for ${MAX_SILENCE_MS / 1_000} s, and no sign of life.`
    return setTimeout(() => this.#ending.abort(new Error(silence)), MAX_SILENCE_MS)
  }

  close(): void {
    clearTimeout(this.#silence)
    this.#forget()
    this.#ending.abort()
  }
}

function isRefusal(error: unknown, status: number): boolean {
  return error instanceof ParleyError && error.response.status === status
}
