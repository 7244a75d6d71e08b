import { callForm } from './call-form.ts'
import type { DocumentSource } from './call-plan.ts'
import { HttpFailure } from './http-exchange.ts'
import { parseTwiml } from './twiml.ts'
import { TwimlError, type Verb } from './verbs.ts'
import type { WebhookReply } from './webhook-client.ts'
import type { VerbHost } from './world.ts'

// Beyond the longest document, so that one that is too long is told apart from one that never ends.
const MOST_BYTES = 256 * 1024

const FAILURES: Partial<Record<HttpFailure['reason'], number>> = { connect: 11205, redirects: 11215 }

/** A document ready to run, and the address that its relative ones start from (empty for an inline one). */
export type CallDocument = { verbs: Verb[]; url: string }

/**
 * Gets and reads a document.
 * @throws TwimlError 11200 (a bad answer), 11205 (no connection), 11215 (redirects without end), 11216 (a redirect that is none),
 * 12300 (no XML), or what reading it throws
 */
export async function loadDocument(host: VerbHost, source: DocumentSource, signal: AbortSignal): Promise<CallDocument> {
  const warn = host.notify.bind(host)
  if (source.kind === 'inline') return { verbs: parseTwiml(source.twiml, warn), url: '' }
  const { status, contentType, body, redirectedTo } = await request(host, source, signal)
  if (status >= 300 && status < 400) throw new TwimlError(11216, `${source.url} answered ${status}`)
  if (status < 200 || status >= 400) throw new TwimlError(11200, `${source.url} answered ${status}`)
  if (!/^(text|application)\/xml\b/i.test(contentType)) {
    throw new TwimlError(12300, `${source.url} answered with the content type ${contentType || '(none)'}`)
  }
  return { verbs: parseTwiml(Buffer.from(body).toString('utf8'), warn), url: redirectedTo ?? source.url }
}

/** The address that a document names, made absolute; an empty one is the document's own. @throws TwimlError 11100 */
export function addressIn(documentUrl: string, address: string): string {
  const absolute = address === '' ? documentUrl : address
  if (URL.canParse(absolute)) return absolute
  if (URL.canParse(absolute, documentUrl)) return new URL(absolute, documentUrl).href
  throw new TwimlError(11100, `${address || '(nothing)'} is no address`)
}

async function request(
  host: VerbHost,
  source: DocumentSource & { kind: 'url' },
  signal: AbortSignal,
): Promise<WebhookReply> {
  try {
    return await host.world.webhooks.send(
      {
        address: source.url,
        method: source.method,
        form: [...callForm(host.record), ...source.form],
        signature: host.faults.callbacks.signature,
        mostBytes: MOST_BYTES,
      },
      signal,
    )
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error
    throw new TwimlError(FAILURES[error.reason] ?? 11200, `${source.url}: ${error.message}`)
  }
}
