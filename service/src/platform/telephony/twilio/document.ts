import { assertNever } from '../../../kernel/errors.ts'
import type { CallVerb } from '../port.ts'

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
      return `<Say>${escaped(v.text)}</Say>`
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
      return `<Dial timeout="${v.timeoutSeconds}"${callerId}><Number>${escaped(v.number)}</Number></Dial>`
    }
    case 'reject':
      return '<Reject reason="busy"/>'
    case 'hangup':
      return '<Hangup/>'
    default:
      return assertNever(v)
  }
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
