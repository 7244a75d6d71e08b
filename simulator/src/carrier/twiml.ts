import { readVerb } from './twiml-verbs.ts'
import { type Notification, TwimlError, type Verb } from './verbs.ts'
import { parseXml, type XmlElement, XmlError } from './xml.ts'

// The longest document that the carrier takes.
const MOST_DOCUMENT_BYTES = 64 * 1024

/**
 * Reads a document: its verbs in order. What the carrier would skip with a warning (an unknown verb or noun) is
 * skipped and told to `warn`.
 * @throws TwimlError 12100 when it is no `<Response>` document, 11750 when it is too long, 12200 when a verb lacks
 *   what it cannot run without.
 */
export function parseTwiml(source: string, warn: (problem: Notification) => void): Verb[] {
  if (Buffer.byteLength(source) > MOST_DOCUMENT_BYTES) throw new TwimlError(11750, 'the document is over 64 KiB')
  return readRoot(source).children.flatMap((element) => {
    const verb = readVerb(element, warn)
    if (!verb) warn({ code: 12200, message: `<${element.name}> is not known here and was skipped` })
    return verb ? [verb] : []
  })
}

function readRoot(source: string): XmlElement {
  try {
    const root = parseXml(source)
    if (root.name !== 'Response') throw new TwimlError(12100, `the root is <${root.name}>, not <Response>`)
    return root
  } catch (error) {
    if (error instanceof XmlError) throw new TwimlError(12100, `the document is no XML: ${error.message}`)
    throw error
  }
}
