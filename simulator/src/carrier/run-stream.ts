import type { DocumentSource } from './call-plan.ts'
import { addressIn } from './documents.ts'
import { NOBODY } from './far-end.ts'
import { MediaStream, type StreamEnd } from './media-stream.ts'
import { aborted } from './run-utterance.ts'
import { makeSid } from './sid.ts'
import { forgedSignature, sign } from './signature.ts'
import { streamAddress } from './stream-address.ts'
import { StreamFrames } from './stream-frames.ts'
import { openStreamSocket, StreamRefused } from './stream-socket.ts'
import { type StreamVerb, TwimlError } from './verbs.ts'
import type { VerbHost } from './world.ts'

type Run = { documentUrl: string; signal: AbortSignal }

/**
 * `<Connect><Stream>`: opens the socket and carries the call's audio over it until the server closes it, it is lost,
 * or the call goes elsewhere. A stream that cannot be opened is a notification, and the next verb runs.
 */
export async function runStream(host: VerbHost, verb: StreamVerb, run: Run): Promise<DocumentSource | null> {
  const streamSid = makeSid('MZ')
  const stream = await openStream(host, verb, { ...run, streamSid })
  if (stream) await carry(host, verb, { stream, streamSid, signal: run.signal })
  if (run.signal.aborted || verb.action === '') return null
  return {
    kind: 'url',
    url: addressIn(run.documentUrl, verb.action),
    method: verb.method,
    form: [['StreamSid', streamSid]],
  }
}

async function openStream(
  host: VerbHost,
  verb: StreamVerb,
  { documentUrl, signal, streamSid }: Run & { streamSid: string },
): Promise<MediaStream | null> {
  const { world, record, faults, timeline } = host
  try {
    const url = streamAddress(verb.url, documentUrl)
    const socket = await openStreamSocket({ clock: world.clock, url, headers: handshakeHeaders(host, url), signal })
    const identity = { accountSid: world.accountSid, callSid: record.sid, streamSid, parameters: verb.parameters }
    const stream = new MediaStream(socket, {
      clock: world.clock,
      chance: world.chance,
      faults: faults.stream,
      streamSid,
      frames: new StreamFrames(identity),
      watcher: {
        notify: (problem) => host.notify(problem),
        cleared: (clear) => {
          timeline.add({ kind: 'clear', ...clear })
          host.line.agentWasCut()
        },
      },
    })
    host.keep(stream)
    timeline.add({ kind: 'stream-started', streamSid, url })
    return stream
  } catch (error) {
    if (!(error instanceof StreamRefused || error instanceof TwimlError)) throw error
    if (!signal.aborted) host.notify({ code: error.code, message: error.message })
    tell(host, verb, { streamSid, event: 'stream-error', error: error.message })
    return null
  }
}

async function carry(
  host: VerbHost,
  verb: StreamVerb,
  { stream, streamSid, signal }: { stream: MediaStream; streamSid: string; signal: AbortSignal },
): Promise<void> {
  tell(host, verb, { streamSid, event: 'stream-started' })
  host.line.connect(stream)
  const leave = () => stream.leave()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const end: StreamEnd = await stream.ended
  signal.removeEventListener('abort', leave)
  host.line.connect(NOBODY)
  host.timeline.add({ kind: 'stream-ended', streamSid, end })
  if (end === 'lost') tell(host, verb, { streamSid, event: 'stream-error', error: 'the connection was lost' })
  else tell(host, verb, { streamSid, event: 'stream-stopped' })
  if (end === 'lost' && host.faults.stream.afterLoss === 'silence') await aborted(signal)
}

function handshakeHeaders(host: VerbHost, url: string): Record<string, string> {
  const { signature } = host.faults.callbacks
  if (signature === 'missing') return {}
  return { 'x-twilio-signature': signature === 'forged' ? forgedSignature(url) : sign(host.world.authToken, url) }
}

function tell(
  host: VerbHost,
  verb: StreamVerb,
  { streamSid, event, error }: { streamSid: string; event: string; error?: string },
): void {
  host.callback({
    address: verb.statusCallback,
    method: verb.statusCallbackMethod,
    form: [
      ['AccountSid', host.world.accountSid],
      ['CallSid', host.record.sid],
      ['StreamSid', streamSid],
      ['StreamName', verb.name || streamSid],
      ['StreamEvent', event],
      ...(error === undefined ? [] : [['StreamError', error] as [string, string]]),
      ['Timestamp', host.world.clock.date().toISOString()],
    ],
  })
}
