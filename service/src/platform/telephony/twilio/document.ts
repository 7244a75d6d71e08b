import { assertNever } from '../../../kernel/errors.ts'
import type { CallVerb } from '../port.ts'
import { sayLanguage } from './say-language.ts'

/** A name and its value together must stay below this, or the carrier drops the parameter. */
const MAX_PARAMETER_CHARS = 500

/**
 * The TwiML that makes the carrier do these in order.
 *
 * @throws RangeError for a stream parameter of 500 characters or more, which the carrier would drop without a word.
 */
export function twiml(verbs: CallVerb[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs.map(verb).join('')}</Response>`
}

function verb(v: CallVerb): string {
  switch (v.type) {
    case 'say':
      return said(v)
    case 'connect_stream': {
      const callback =
        v.statusCallback === null ? '' : ` statusCallback="${escaped(v.statusCallback)}" statusCallbackMethod="POST"`
      const parameters = Object.entries(v.parameters).map(parameter).join('')
      return `<Connect><Stream url="${escaped(v.url)}"${callback}>${parameters}</Stream></Connect>`
    }
    case 'pause':
      return `<Pause length="${v.seconds}"/>`
    case 'redirect':
      return `<Redirect method="POST">${escaped(v.url)}</Redirect>`
    case 'dial': {
      const callerId = v.callerId === null ? '' : ` callerId="${escaped(v.callerId)}"`
      const events = v.answered === undefined ? '' : answeredBy(v.answered)
      const number = `<Number${events}>${escaped(v.number)}</Number>`
      const longest = v.maxSeconds === undefined ? '' : ` timeLimit="${v.maxSeconds}"`
      return `<Dial timeout="${v.timeoutSeconds}"${longest}${callerId}${actionOf(v.action)}>${number}</Dial>`
    }
    case 'conference': {
      const room = `<Conference beep="false" endConferenceOnExit="true">${escaped(v.room)}</Conference>`
      return `<Dial${actionOf(v.action)}>${room}</Dial>`
    }
    case 'ask_key': {
      const attributes = `input="dtmf" numDigits="1" timeout="${v.timeoutSeconds}" action="${escaped(v.url)}" method="POST"`
      return `<Gather ${attributes}>${said(v)}</Gather>`
    }
    case 'reject':
      return '<Reject reason="busy"/>'
    case 'hangup':
      return '<Hangup/>'
    default:
      return assertNever(v)
  }
}

function said({ text, language, english = text }: Omit<Extract<CallVerb, { type: 'say' }>, 'type'>): string {
  if (language === undefined) return `<Say>${escaped(text)}</Say>`
  const locale = sayLanguage(language)
  return locale === null ? `<Say>${escaped(english)}</Say>` : `<Say language="${locale}">${escaped(text)}</Say>`
}

function actionOf(url: string | undefined): string {
  return url === undefined ? '' : ` action="${escaped(url)}" method="POST"`
}

function answeredBy(url: string): string {
  return ` statusCallback="${escaped(url)}" statusCallbackMethod="POST" statusCallbackEvent="answered"`
}

function parameter([name, value]: [string, string]): string {
  if (name.length + value.length >= MAX_PARAMETER_CHARS)
    throw new RangeError(`the stream parameter ${name} is too long`)
  return `<Parameter name="${escaped(name)}" value="${escaped(value)}"/>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** XML 1.0 has no way to write most control characters and halves of characters: they are left out. */
const UNWRITABLE = /[\p{Cs}\ufffe\uffff[\p{Cc}--[\t\n\r]]]/gv

function escaped(text: string): string {
  return text.replace(UNWRITABLE, '').replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
}
