import {
  type DialConference,
  type DialNumber,
  type DialVerb,
  type GatherVerb,
  type Notification,
  type StreamVerb,
  TwimlError,
  type Utterance,
  type Verb,
} from './verbs.ts'
import type { XmlElement } from './xml.ts'

type Warn = (problem: Notification) => void

// The carrier's bound on a name and its value together.
const MOST_PARAMETER_LETTERS = 500
const FOUR_HOURS_S = 14_400

/** The verb that an element stands for; null when it is none. @throws TwimlError 12200 when it cannot be run. */
export function readVerb(element: XmlElement, warn: Warn): Verb | null {
  switch (element.name) {
    case 'Connect':
      return readConnect(element, warn)
    case 'Dial':
      return readDial(element, warn)
    case 'Gather':
      return readGather(element, warn)
    case 'Redirect':
      return { verb: 'redirect', url: element.text.trim(), method: methodOf(element, 'method') }
    case 'Reject':
      return { verb: 'reject', reason: attribute(element, 'reason') === 'busy' ? 'busy' : 'rejected' }
    case 'Hangup':
      return { verb: 'hangup' }
    default:
      return readUtterance(element)
  }
}

function readUtterance(element: XmlElement): Utterance | null {
  switch (element.name) {
    case 'Say':
      return { verb: 'say', text: element.text.trim(), times: timesOf(element) }
    case 'Play':
      return { verb: 'play', url: element.text.trim(), keys: attribute(element, 'digits'), times: timesOf(element) }
    case 'Pause':
      return { verb: 'pause', lengthMs: seconds(element, 'length', { usual: 1, most: FOUR_HOURS_S }) }
    default:
      return null
  }
}

function readConnect(element: XmlElement, warn: Warn): StreamVerb {
  const stream = element.children.find(({ name }) => name === 'Stream')
  if (!stream) throw new TwimlError(12200, '<Connect> has no <Stream>')
  const url = attribute(stream, 'url')
  if (url === '') throw new TwimlError(12200, '<Stream> has no url')
  return {
    verb: 'stream',
    url,
    name: attribute(stream, 'name'),
    parameters: readParameters(stream, warn),
    statusCallback: attribute(stream, 'statusCallback'),
    statusCallbackMethod: methodOf(stream, 'statusCallbackMethod'),
    action: attribute(element, 'action'),
    method: methodOf(element, 'method'),
  }
}

function readParameters(stream: XmlElement, warn: Warn): [string, string][] {
  return stream.children
    .filter(({ name }) => name === 'Parameter')
    .flatMap((parameter): [string, string][] => {
      const name = attribute(parameter, 'name')
      const value = attribute(parameter, 'value')
      if (name !== '' && name.length + value.length < MOST_PARAMETER_LETTERS) return [[name, value]]
      warn({ code: 12200, message: 'a <Parameter> without a name, or of 500 letters and more, was dropped' })
      return []
    })
}

function readDial(element: XmlElement, warn: Warn): DialVerb {
  const conference = element.children.find(({ name }) => name === 'Conference')
  const numbers = element.children.flatMap((child) => {
    if (child.name === 'Number') return [readNumber(child)]
    if (child.name !== 'Conference') warn({ code: 12200, message: `<${child.name}> in <Dial> was skipped` })
    return []
  })
  const plain = element.text.trim()
  if (plain !== '') numbers.push(readNumber({ ...element, attributes: new Map(), text: plain }))
  if (numbers.length === 0 && !conference) throw new TwimlError(13225, '<Dial> names nobody to ring')
  return {
    verb: 'dial',
    numbers,
    conference: conference ? readConference(conference) : null,
    callerId: attribute(element, 'callerId'),
    timeoutMs: seconds(element, 'timeout', { usual: 30, most: 600 }),
    timeLimitMs: seconds(element, 'timeLimit', { usual: FOUR_HOURS_S, most: 86_400 }),
    answerOnBridge: attribute(element, 'answerOnBridge') === 'true',
    hangUpOnStar: attribute(element, 'hangupOnStar') === 'true',
    action: attribute(element, 'action'),
    method: methodOf(element, 'method'),
  }
}

function readNumber(element: XmlElement): DialNumber {
  const events = attribute(element, 'statusCallbackEvent').split(/\s+/).filter(Boolean)
  return {
    to: element.text.trim(),
    url: attribute(element, 'url'),
    method: methodOf(element, 'method'),
    sendDigits: attribute(element, 'sendDigits'),
    callback: {
      url: attribute(element, 'statusCallback'),
      method: methodOf(element, 'statusCallbackMethod'),
      events: events.length > 0 ? events : ['completed'],
    },
  }
}

function readConference(element: XmlElement): DialConference {
  const room = element.text.trim()
  if (room === '') throw new TwimlError(12200, '<Conference> has no name')
  return {
    room,
    endOnExit: attribute(element, 'endConferenceOnExit') === 'true',
    isMuted: attribute(element, 'muted') === 'true',
  }
}

function readGather(element: XmlElement, warn: Warn): GatherVerb {
  const input = attribute(element, 'input')
  if (input !== '' && !input.split(/\s+/).includes('dtmf')) {
    warn({ code: 12200, message: '<Gather> by speech alone hears nothing here: no speech is understood' })
  }
  return {
    verb: 'gather',
    prompts: element.children.flatMap((child) => readUtterance(child) ?? []),
    mostDigits: Math.max(1, Number.parseInt(attribute(element, 'numDigits'), 10) || Number.POSITIVE_INFINITY),
    timeoutMs: seconds(element, 'timeout', { usual: 5, most: 600 }),
    finishOnKey: element.attributes.get('finishOnKey') ?? '#',
    actionOnEmpty: attribute(element, 'actionOnEmptyResult') === 'true',
    action: attribute(element, 'action'),
    method: methodOf(element, 'method'),
  }
}

function attribute(element: XmlElement, name: string): string {
  return element.attributes.get(name) ?? ''
}

function methodOf(element: XmlElement, name: string): 'GET' | 'POST' {
  return attribute(element, name).toUpperCase() === 'GET' ? 'GET' : 'POST'
}

function timesOf(element: XmlElement): number {
  const asked = Number.parseInt(attribute(element, 'loop') || '1', 10)
  // 0 means without end; a thousand times outlasts every call.
  return asked === 0 ? 1000 : Math.min(1000, Math.max(1, asked || 1))
}

function seconds(element: XmlElement, name: string, { usual, most }: { usual: number; most: number }): number {
  const asked = Number(attribute(element, name) || usual)
  return 1000 * Math.min(most, Math.max(0, Number.isFinite(asked) ? asked : usual))
}
