/** Something to say in the caller's ear, in a document or in a `<Gather>`. */
export type Utterance =
  | { verb: 'say'; text: string; times: number }
  | { verb: 'play'; url: string; keys: string; times: number }
  | { verb: 'pause'; lengthMs: number }

/** `<Connect><Stream>`: the call's audio goes over a socket until that is closed. */
export type StreamVerb = {
  verb: 'stream'
  url: string
  name: string
  parameters: [string, string][]
  statusCallback: string
  statusCallbackMethod: string
  action: string
  method: string
}

/** One party that `<Dial>` rings. */
export type DialNumber = { to: string; url: string; method: string; sendDigits: string; callback: DialCallback }
/** Where a dialled party's progress is told. */
export type DialCallback = { url: string; method: string; events: string[] }
/** A room that `<Dial>` joins. */
export type DialConference = { room: string; endOnExit: boolean; isMuted: boolean }

/** `<Dial>`: rings numbers, the first to answer wins; or joins a conference. */
export type DialVerb = {
  verb: 'dial'
  numbers: DialNumber[]
  conference: DialConference | null
  callerId: string
  timeoutMs: number
  timeLimitMs: number
  answerOnBridge: boolean
  hangUpOnStar: boolean
  action: string
  method: string
}

/** `<Gather>`: collects keys. */
export type GatherVerb = {
  verb: 'gather'
  prompts: Utterance[]
  mostDigits: number
  timeoutMs: number
  finishOnKey: string
  actionOnEmpty: boolean
  action: string
  method: string
}

/** One instruction of a document, its attributes read and bounded. */
export type Verb =
  | Utterance
  | StreamVerb
  | DialVerb
  | GatherVerb
  | { verb: 'redirect'; url: string; method: string }
  | { verb: 'reject'; reason: 'busy' | 'rejected' }
  | { verb: 'hangup' }

/** A problem that the carrier reports with one of its error numbers, in its debugger. */
export type Notification = { code: number; message: string }

/** A document that cannot be run at all: the call ends. */
export class TwimlError extends Error {
  override name = 'TwimlError'
  /** The carrier's error number. */
  code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
