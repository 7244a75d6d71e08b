import { isJsonObject } from '../../../kernel/json-object.ts'
import { lastingBytes } from '../../../kernel/lasting-bytes.ts'
import type { StreamCodec, StreamMessage } from '../port.ts'
import { echoedName, markFrame } from './mark-frame.ts'
import { mediaPayload } from './media-frame.ts'

/** Frames are text of at most this many bytes; a whole second of audio is a sixth of it. */
const MAX_FRAME_BYTES = 64 * 1024

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const TAIL = lastingBytes('"}}')

type Json = Record<string, unknown>

/** Twilio Media Streams, bidirectional: JSON text frames with base64 µ-law in them. */
export const mediaStreamsCodec: StreamCodec = {
  read,
  mediaPayload,
  mediaFrame: (streamSid) => ({
    head: lastingBytes(`{"event":"media","streamSid":${JSON.stringify(streamSid)},"media":{"payload":"`),
    tail: TAIL,
  }),
  mark: markFrame,
  clear: (streamSid) => Buffer.from(JSON.stringify({ event: 'clear', streamSid })),
}

function read(frame: Buffer): StreamMessage {
  if (frame.length > MAX_FRAME_BYTES) return malformed('a frame is over 64 KiB', 1009)
  const name = echoedName(frame)
  if (name !== null) return { type: 'mark', name }
  const message = parse(frame)
  if (!message) return malformed('a frame is not a JSON object', 1003)
  switch (message['event']) {
    case 'connected':
      return { type: 'connected' }
    case 'start':
      return start(object(message['start']))
    case 'media':
      return media(object(message['media']))
    case 'dtmf':
      return dtmf(object(message['dtmf']))
    case 'mark':
      return mark(object(message['mark']))
    case 'stop':
      return { type: 'stop' }
    default:
      return { type: 'unknown' }
  }
}

function parse(frame: Buffer): Json | null {
  try {
    const value: unknown = JSON.parse(frame.toString('utf8'))
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function start(fields: Json): StreamMessage {
  const { streamSid, callSid, accountSid, mediaFormat } = fields
  if (!isId(streamSid)) return malformed(`the streamSid of start ${NO_ID}`, 1008)
  if (!isId(callSid)) return malformed(`the callSid of start ${NO_ID}`, 1008)
  const { encoding = 'audio/x-mulaw', sampleRate = 8000 } = object(mediaFormat)
  if (encoding !== 'audio/x-mulaw' || Number(sampleRate) !== 8000)
    return malformed('the audio is not µ-law at 8 kHz', 1008)
  const parameters = Object.entries(object(fields['customParameters'])).filter((entry) => typeof entry[1] === 'string')
  return {
    type: 'start',
    streamSid,
    callSid,
    accountSid: isId(accountSid) ? accountSid : '',
    parameters: Object.fromEntries(parameters) as Record<string, string>,
  }
}

const NO_ID = 'must be 1 to 128 letters, digits, _, ., : or -'

/** Ids go into our own frames, documents and addresses: what is not plain text is not an id. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.:-]{1,128}$/.test(value)
}

/** Only the caller's own track is audio for us. */
function media({ track = 'inbound', payload }: Json): StreamMessage {
  if (track !== 'inbound') return { type: 'unknown' }
  if (typeof payload !== 'string' || !BASE64.test(payload)) return malformed('media has no base64 payload', 1008)
  return { type: 'media', payload: Buffer.from(payload, 'latin1') }
}

function dtmf({ digit }: Json): StreamMessage {
  return typeof digit === 'string' && /^[0-9*#A-D]$/.test(digit) ? { type: 'dtmf', digit } : { type: 'unknown' }
}

function mark({ name }: Json): StreamMessage {
  return typeof name === 'string' ? { type: 'mark', name } : { type: 'unknown' }
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function malformed(reason: string, closeCode: 1003 | 1008 | 1009): StreamMessage {
  return { type: 'malformed', reason, closeCode }
}
