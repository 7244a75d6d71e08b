import { forTenant } from './client.ts'
import { type ApiFailure, failureOf, mayPass, unreachable } from './failure.ts'
import { waitForPlace } from './stream-place.ts'

/** A server-sent event; `data` is its JSON. */
export type ServerEvent = { id: string | null; event: string; data: unknown }

/** Whether events come; with a failure that may pass they may come again. */
export type StreamState = { isOpen: boolean; failure: ApiFailure | null }

type Followed = {
  path: string
  tenantId: string
  /** Of an event that was read: what came after it is told. */
  lastId: string | null
  signal: AbortSignal
  onEvent: (event: ServerEvent) => void
  onState: (state: StreamState) => void
}

/** Between one request and the next, as often as none is answered with events. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 16_000
/** The service gives a sign of life every 15 s: a connection without one is lost, though nobody has said so. */
const MAX_SILENCE_MS = 45_000
/** Without a place among the streams that are kept open it is looked into for so long, from its first sign of life on. */
const LOOK_MS = 500
/** Between two of those looks. */
const BETWEEN_LOOKS_MS = 1_500

/**
 * Follows a stream of server-sent events until it is left, behind the last event when the connection was lost or refused for the
 * time being. While other windows of the browser keep as many open as may be, it is looked into every two seconds instead. Returns the
 * failure of one that is refused for good; null when it was left.
 */
export async function followEvents(followed: Followed): Promise<ApiFailure | null> {
  const over = new AbortController()
  const { taken } = waitForPlace(AbortSignal.any([followed.signal, over.signal]))
  // Where it is refused for good nothing is kept open any more.
  return follow(followed, taken).finally(() => over.abort())
}

async function follow(
  { signal, onEvent, onState, ...asked }: Followed,
  taken: AbortSignal,
): Promise<ApiFailure | null> {
  let { lastId } = asked
  let pauseMs = FIRST_PAUSE_MS
  const note = (event: ServerEvent) => {
    lastId = event.id ?? lastId
    onEvent(event)
  }
  while (!signal.aborted) {
    const silence = boundSilence(signal)
    const look = boundLook(taken)
    const opened = await open({ ...asked, lastId, signal: AbortSignal.any([silence.signal, look.signal]) })
    if ('body' in opened && !signal.aborted) {
      pauseMs = FIRST_PAUSE_MS
      onState({ isOpen: true, failure: null })
      // Lost half way is what the next turn of this loop is for.
      await readEvents(opened.body, note, () => {
        silence.broken()
        look.begin()
      }).catch(() => {})
    }
    silence.over()
    look.over()
    if (signal.aborted) break
    if (look.signal.aborted) {
      await later(BETWEEN_LOOKS_MS, AbortSignal.any([signal, taken]))
      continue
    }
    const failure = 'body' in opened ? null : opened.failure
    onState({ isOpen: false, failure })
    if (failure && !mayPass(failure)) return failure
    await later(Math.max(pauseMs, (failure?.waitSeconds ?? 0) * 1_000), signal)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
  return null
}

/** A signal that aborts with the one given, and when the silence was not broken for too long. */
function boundSilence(signal: AbortSignal) {
  const lost = new AbortController()
  let timer: ReturnType<typeof setTimeout>
  const begin = () => {
    timer = setTimeout(() => lost.abort(), MAX_SILENCE_MS)
  }
  const over = () => clearTimeout(timer)
  const broken = () => {
    over()
    begin()
  }
  begin()
  return { signal: AbortSignal.any([signal, lost.signal]), broken, over }
}

/** A signal that aborts a while after `begin`, unless there is a place by then: whoever has one stays. */
function boundLook(taken: AbortSignal) {
  const enough = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = () => clearTimeout(timer)
  const begin = () => {
    if (!taken.aborted) timer ??= setTimeout(() => taken.aborted || enough.abort(), LOOK_MS)
  }
  return { signal: enough.signal, begin, over }
}

type Opened = { body: ReadableStream<Uint8Array> } | { failure: ApiFailure }

async function open({ path, tenantId, lastId, signal }: Omit<Followed, 'onEvent' | 'onState'>): Promise<Opened> {
  const headers = new Headers(forTenant(tenantId))
  if (lastId !== null) headers.set('last-event-id', lastId)
  // Past the cache: in Firefox whoever asks for the same as another window waits there until that one's answer has ended.
  const response = await fetch(path, { headers, signal, cache: 'no-store' }).catch(() => null)
  if (response && !response.ok) return { failure: await failureOf(response) }
  return response?.body ? { body: response.body } : { failure: unreachable() }
}

/** To the end of the stream. `heard` is called for whatever comes. */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  take: (event: ServerEvent) => void,
  heard: () => void,
): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    text += decoder.decode(value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = fieldIn(block, 'data')
      if (data === null) continue
      take({ id: fieldIn(block, 'id'), event: fieldIn(block, 'event') ?? 'message', data: JSON.parse(data) })
    }
  }
}

function fieldIn(block: string, name: string): string | null {
  const line = block.split('\n').find((candidate) => candidate.startsWith(`${name}: `))
  return line === undefined ? null : line.slice(name.length + 2)
}

function later(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, delayMs)
    signal.addEventListener('abort', done)
  })
}
