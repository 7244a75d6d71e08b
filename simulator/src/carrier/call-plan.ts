import type { CallStatus } from './call-record.ts'
import type { CallerScript } from './caller-script.ts'
import type { EndedBy } from './timeline.ts'

/** Where a document comes from. The form's fields are sent along with those of the call. */
export type DocumentSource =
  | { kind: 'inline'; twiml: string }
  | { kind: 'url'; url: string; method: string; form: [string, string][] }

/** Which of a call's states are told, and where. */
export type StatusCallback = { url: string; method: string; events: string[] }

/** What detection of answering machines is asked for; times in milliseconds. */
export type MachineDetection = {
  mode: 'Enable' | 'DetectMessageEnd'
  /** When set, the call goes on at once and the result is posted here. */
  asyncCallback: { url: string; method: string } | null
  timeoutMs: number
  speechThresholdMs: number
  speechEndThresholdMs: number
  silenceTimeoutMs: number
}

/** All that is known of a call before it begins. */
export type CallPlan = {
  from: string
  to: string
  direction: 'inbound' | 'outbound-api' | 'outbound-dial'
  parentSid: string | null
  /** The party: who rings, of an inbound call; who is rung, of any other. */
  party: CallerScript
  /** What the call does once answered; null: nothing. */
  instructions: DocumentSource | null
  /** Asked when a document cannot be had or run; empty: nobody is. */
  fallback: { url: string; method: string }
  callback: StatusCallback
  ringTimeoutMs: number
  timeLimitMs: number
  /** Whether the call ends when its instructions do, or stays for whoever dialled it. */
  afterInstructions: 'hang-up' | 'stay'
  sendDigits: string
  machineDetection: MachineDetection | null
}

/** What a `<Dial>` says of a party; the carrier knows who answers there. */
export type DialPlan = Omit<CallPlan, 'party' | 'fallback' | 'afterInstructions' | 'machineDetection'>

/** How a call ended. */
export type CallEnd = { status: CallStatus; by: EndedBy }
