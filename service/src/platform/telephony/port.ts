/**
 * A carrier as the floors above see it: a stream of audio frames, a document that answers a call, a few REST requests, a
 * signature. A driver turns one provider's wire into these; nothing above it knows the wire.
 */

/** One message of a media stream. Audio payloads are base64 µ-law, 8 kHz, mono. */
export type StreamMessage =
  | { type: 'connected' }
  | {
      type: 'start'
      streamSid: string
      callSid: string
      accountSid: string
      parameters: Record<string, string>
    }
  | { type: 'media'; payload: Buffer }
  | { type: 'dtmf'; digit: string }
  /** Everything that was sent before this mark has played, or was cleared. */
  | { type: 'mark'; name: string }
  | { type: 'stop' }
  /** Something that newer versions send: counted and ignored. */
  | { type: 'unknown' }
  /** Not of this protocol: the socket is closed with `closeCode`. */
  | { type: 'malformed'; reason: string; closeCode: 1003 | 1008 | 1009 }

/** Reads and writes a carrier's media stream. Pure: bytes in, bytes out. */
export type StreamCodec = {
  /** Any frame of text, in full. */
  read(frame: Buffer): StreamMessage
  /**
   * The fast path: the base64 payload of a caller's audio frame, as a view into `frame`; null when this is something else
   * or not in the usual shape, and `read` must decide. Never returns bytes outside the base64 alphabet.
   */
  mediaPayload(frame: Buffer): Buffer | null
  /** What goes before and after a payload, so that a frame is one concatenation. */
  mediaFrame(streamSid: string): { head: Buffer; tail: Buffer }
  mark(streamSid: string, name: string): Buffer
  clear(streamSid: string): Buffer
}

/** What the carrier does next with a call, as a document in its own language. */
export type CallVerb =
  /**
   * `language` is that of the text, such as `pt-BR`; where it is not given the carrier takes its own. `english` is what is said in place of
   * the text by a carrier that does not speak that language.
   */
  | { type: 'say'; text: string; language?: string; english?: string }
  | { type: 'connect_stream'; url: string; parameters: Record<string, string>; statusCallback: string | null }
  | { type: 'pause'; seconds: number }
  | { type: 'redirect'; url: string }
  /**
   * Rings a number and joins the call with it. `action` is asked what comes next when that is over, answered or not; without one
   * the next verb is done. `answered` is told when somebody answers.
   */
  | {
      type: 'dial'
      number: string
      callerId: string | null
      timeoutSeconds: number
      /** The longest that they talk; the carrier's own bound if not given. */
      maxSeconds?: number
      action?: string
      answered?: string
    }
  /** Joins a room, which is over for all when one leaves it; `action` as for `dial`. */
  | { type: 'conference'; room: string; action?: string }
  /** Says a sentence, as `say` does, and takes one key, with which `url` is asked what comes next; without a key the next verb is done. */
  | { type: 'ask_key'; text: string; language?: string; english?: string; timeoutSeconds: number; url: string }
  | { type: 'reject' }
  | { type: 'hangup' }

/** The account in whose name a request is made or checked. */
export type CarrierAccount = { accountSid: string; authToken: string }

/** How far a call has come. From `completed` on it is over. */
export const CARRIER_CALL_STATUSES = [
  'queued',
  'initiated',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
] as const
export type CarrierCallStatus = (typeof CARRIER_CALL_STATUSES)[number]

export type CarrierCall = {
  callSid: string
  status: CarrierCallStatus
  durationSeconds: number | null
  answeredBy: string | null
}

/** A call that the carrier shall place. */
export type NewCarrierCall = {
  from: string
  to: string
  /** Asked what to do once somebody answers, and asked again when that fails. */
  answerUrl: string
  /** Told of each status, and of what answered where that is asked for. */
  statusUrl: string
  ringSeconds: number
  /** After these the carrier ends the call by itself. */
  maxSeconds: number
  /**
   * When an answering machine is told: as soon as it is known to be one, or when a message can be left; null: nobody asks whether it is
   * one, which carriers are paid for.
   */
  tellMachine: 'at_start' | 'at_message_end' | null
}

/** What a carrier shall do with a live call from now on. `maxSeconds`: how long the whole call may last then; what is not given stays as before. */
export type CallChange = { verbs?: CallVerb[]; maxSeconds?: number }

/** Whose calls are looked for: both numbers in E.164. */
export type WantedCalls = { from: string; to: string; since: Date }

/** A call of a list. `createdAt` is when the carrier took it, to the second. */
export type ListedCall = CarrierCall & { createdAt: Date }

/** What a list tells; `hasUnread`: it has entries that nobody can read and that may be calls of the time that was asked for. */
export type ListedCalls = { calls: ListedCall[]; hasUnread: boolean }

/** A signed request of the carrier: its headers as they came, the exact public address, the form's fields in their order. */
export type SignedRequest = {
  url: string
  headers: Record<string, string | string[] | undefined>
  /** Null for a request without a form, such as the handshake of a stream. */
  form: [name: string, value: string][] | null
}

/** The addresses that a number shall have at the carrier; each is called with POST. */
export type NumberAddresses = {
  /** Asked what to do when the number is rung. */
  voice: string
  /** Asked when `voice` failed. */
  fallback: string
  /** Told how calls end. */
  status: string
}

/** What came of connecting a number: whoever owns it, takes no calls with it or gave it to a trunk has to change that first. */
export type NumberConnection = 'connected' | 'not_owned' | 'takes_no_calls' | 'in_trunk'

/** One carrier. Requests over the network take a signal and throw `CarrierError`. */
export type TelephonyDriver = {
  name: string
  codec: StreamCodec
  /** The document that makes the carrier do these, and its content type. Everything dynamic is escaped here. */
  document(verbs: CallVerb[]): { body: string; contentType: string }
  /** Whether a request says that it is signed; by whom is another question. */
  hasSignature(headers: SignedRequest['headers']): boolean
  /** Whether the signature has the form of this carrier's. False is known of what `verify` refuses with any token. */
  mayBeSigned(headers: SignedRequest['headers']): boolean
  /** Whether one of the tokens signed this request. Constant time; a missing or doubled header is false. */
  verify(request: SignedRequest, authTokens: string[], body?: Buffer): boolean
  /** Places a call, and gives its id. What fails with `busy`, `rejected`, `credentials` or `unreachable` was not placed; with `unknown` it may have been. */
  createCall(account: CarrierAccount, call: NewCarrierCall, signal: AbortSignal): Promise<string>
  /** The newest calls of the account from one number to another since then, 50 at most. Lists may lag by some seconds. */
  listCalls(account: CarrierAccount, wanted: WantedCalls, signal: AbortSignal): Promise<ListedCalls>
  /** Ends a call. A call that has ended already is a success. */
  endCall(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<void>
  /**
   * Ends a call that nobody has answered yet, and tells what is known of it then: one that still rings will stop. Null: it is in no
   * state for that, because somebody has answered it or it is over.
   */
  cancelCall(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<CarrierCall | null>
  /** Makes the carrier leave what it does with a live call and do something else instead. */
  updateCall(account: CarrierAccount, callSid: string, change: CallChange, signal: AbortSignal): Promise<void>
  /** What the carrier knows of a call; null when it knows none of this id. */
  fetchCall(account: CarrierAccount, callSid: string, signal: AbortSignal): Promise<CarrierCall | null>
  /** Has a number of the account call these addresses. Repeating it changes nothing. */
  connectNumber(
    account: CarrierAccount,
    phoneNumber: string,
    addresses: NumberAddresses,
    signal: AbortSignal,
  ): Promise<NumberConnection>
}

/** Why the carrier did not do it: `kind` decides what follows, `code` and `reason` are the carrier's own. */
export class CarrierError extends Error {
  override readonly name = 'CarrierError'
  readonly kind: 'rejected' | 'credentials' | 'busy' | 'unreachable' | 'unknown'
  readonly code: string | null

  constructor(kind: CarrierError['kind'], reason: string, code: string | null = null, options: ErrorOptions = {}) {
    super(reason, options)
    this.kind = kind
    this.code = code
  }
}
