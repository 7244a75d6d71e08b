import type { CallPlan, DocumentSource, MachineDetection, StatusCallback } from './call-plan.ts'
import { RestError } from './rest-error.ts'

const E164 = /^\+[1-9]\d{6,14}$/
const MOST_TWIML_LETTERS = 4000
const FOUR_HOURS_S = 14_400
const EVENTS = ['initiated', 'ringing', 'answered', 'completed']

// Numbers that stand for a refusal, whoever calls them.
const MAGIC_TO: Record<string, [number, string]> = {
  '+15005550001': [21217, 'is not a valid phone number'],
  '+15005550002': [21214, 'could not be reached'],
  '+15005550003': [21215, 'is in a country that this account may not call'],
  '+15005550004': [21216, 'is blocked'],
}
const MAGIC_FROM_OK = '+15005550006'
const MAGIC_FROM_INVALID = '+15005550001'

/** Who asks: an account with its own numbers, or test credentials, for which only magic numbers count. */
export type CreatingAccount = { isTest: boolean; owns: (number: string) => boolean }

/**
 * Reads the form of a create-call request.
 * @throws RestError with the carrier's number for what is missing or wrong
 */
export function readCreateCall(form: URLSearchParams, account: CreatingAccount): Omit<CallPlan, 'party'> {
  const to = form.get('To') ?? ''
  const from = form.get('From') ?? ''
  checkTo(to)
  checkFrom(from, account)
  return {
    from,
    to,
    direction: 'outbound-api',
    parentSid: null,
    instructions: readInstructions(form),
    fallback: { url: address(form, 'FallbackUrl', 21205), method: form.get('FallbackMethod') ?? 'POST' },
    callback: readStatusCallback(form),
    ringTimeoutMs: seconds(form, 'Timeout', { usual: 60, most: 600 }),
    timeLimitMs: readTimeLimit(form),
    afterInstructions: 'hang-up',
    sendDigits: readSendDigits(form),
    machineDetection: readMachineDetection(form),
  }
}

/** The document that a request names. @throws RestError 21205 when it names none, or one that cannot be */
export function readInstructions(form: URLSearchParams): DocumentSource {
  const url = address(form, 'Url', 21205)
  if (url !== '') return { kind: 'url', url, method: form.get('Method') ?? 'POST', form: [] }
  const twiml = form.get('Twiml') ?? ''
  if (twiml === '') throw new RestError(21205, 'Url parameter is required.')
  if (twiml.length > MOST_TWIML_LETTERS) throw new RestError(20001, 'Twiml must be at most 4000 characters long')
  return { kind: 'inline', twiml }
}

/** How long the call may last, in milliseconds. @throws RestError 20001 for what is no time */
export function readTimeLimit(form: URLSearchParams): number {
  return seconds(form, 'TimeLimit', { usual: FOUR_HOURS_S, most: FOUR_HOURS_S })
}

function checkTo(to: string): void {
  if (to === '') throw new RestError(21201, "No 'To' number is specified")
  const refusal = MAGIC_TO[to]
  if (refusal) throw new RestError(refusal[0], `The phone number you are attempting to call, ${to}, ${refusal[1]}`)
  if (!E164.test(to)) throw new RestError(21211, `The 'To' number ${to} is not a valid phone number.`)
}

function checkFrom(from: string, { isTest, owns }: CreatingAccount): void {
  if (from === '') throw new RestError(21213, "No 'From' number is specified")
  if (isTest && from === MAGIC_FROM_OK) return
  if (from === MAGIC_FROM_INVALID || !E164.test(from)) {
    throw new RestError(21212, `The 'From' number ${from} is not a valid phone number.`)
  }
  if (isTest || !owns(from)) {
    throw new RestError(21210, `The source phone number provided, ${from}, is not yet verified for your account.`)
  }
}

function readStatusCallback(form: URLSearchParams): StatusCallback {
  const asked = form.getAll('StatusCallbackEvent').flatMap((value) => value.split(/[\s,]+/).filter(Boolean))
  const unknown = asked.find((event) => !EVENTS.includes(event))
  if (unknown) throw new RestError(21626, `Invalid StatusCallbackEvent ${unknown}`)
  return {
    url: address(form, 'StatusCallback', 21609),
    method: form.get('StatusCallbackMethod') ?? 'POST',
    events: asked.length > 0 ? asked : ['completed'],
  }
}

function readSendDigits(form: URLSearchParams): string {
  const digits = form.get('SendDigits') ?? ''
  if (!/^[0-9A-D#*wW]{0,32}$/.test(digits)) throw new RestError(21218, 'SendDigits is invalid')
  return digits
}

function readMachineDetection(form: URLSearchParams): MachineDetection | null {
  const mode = form.get('MachineDetection') ?? ''
  if (mode === '') return null
  if (mode !== 'Enable' && mode !== 'DetectMessageEnd') throw new RestError(21234, 'Invalid MachineDetection')
  const isAsync = form.get('AsyncAmd') === 'true'
  const method = form.get('AsyncAmdStatusCallbackMethod') ?? 'POST'
  return {
    mode,
    asyncCallback: isAsync ? { url: address(form, 'AsyncAmdStatusCallback', 21234), method } : null,
    timeoutMs: 1000 * amdNumber(form, 'MachineDetectionTimeout', { usual: 30, least: 3, most: 59 }),
    speechThresholdMs: amdNumber(form, 'MachineDetectionSpeechThreshold', { usual: 2400, least: 1000, most: 6000 }),
    speechEndThresholdMs: amdNumber(form, 'MachineDetectionSpeechEndThreshold', {
      usual: 1200,
      least: 500,
      most: 5000,
    }),
    silenceTimeoutMs: amdNumber(form, 'MachineDetectionSilenceTimeout', { usual: 5000, least: 2000, most: 10_000 }),
  }
}

function amdNumber(
  form: URLSearchParams,
  name: string,
  { usual, least, most }: { usual: number; least: number; most: number },
): number {
  const value = Number(form.get(name) ?? usual)
  if (!(value >= least && value <= most)) throw new RestError(21234, `${name} must be ${least} to ${most}`)
  return value
}

function address(form: URLSearchParams, name: string, code: number): string {
  const value = form.get(name) ?? ''
  if (value !== '' && !/^https?:\/\//i.test(value)) throw new RestError(code, `${name} is not a valid URL: ${value}`)
  if (value !== '' && !URL.canParse(value)) throw new RestError(code, `${name} is not a valid URL: ${value}`)
  return value
}

function seconds(form: URLSearchParams, name: string, { usual, most }: { usual: number; most: number }): number {
  const value = Number(form.get(name) ?? usual)
  if (!Number.isInteger(value) || value < 1) throw new RestError(20001, `${name} must be a positive whole number`)
  return 1000 * Math.min(most, value)
}
