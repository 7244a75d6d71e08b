import type { DocumentSource } from './call-plan.ts'
import { addressIn, type CallDocument, loadDocument } from './documents.ts'
import { runDial } from './run-dial.ts'
import { runGather } from './run-gather.ts'
import { runStream } from './run-stream.ts'
import { runUtterance } from './run-utterance.ts'
import type { TwimlError, Verb } from './verbs.ts'
import type { VerbHost } from './world.ts'

/** What comes after a verb: the next one, another document, or the end of the call. */
type Next = 'next-verb' | 'hang-up' | DocumentSource

/** How a document ended: with another to run, with the order to hang up, or with its last verb. */
export type DocumentEnd = DocumentSource | 'hang-up' | 'last-verb'

/** What a document is run with. `onVerb` is told of each verb before it runs. */
export type DocumentRun = { signal: AbortSignal; onVerb: (verb: Verb) => void }

/**
 * Gets a document and runs its verbs in order until one leads elsewhere or the signal aborts.
 * @throws TwimlError when it cannot be had or run
 */
export async function runDocument(host: VerbHost, source: DocumentSource, run: DocumentRun): Promise<DocumentEnd> {
  const document = await loadDocument(host, source, run.signal)
  for (const verb of document.verbs) {
    if (run.signal.aborted) break
    run.onVerb(verb)
    const next = await runVerb(host, verb, { document, signal: run.signal })
    if (next !== 'next-verb') return next
  }
  return 'last-verb'
}

async function runVerb(
  host: VerbHost,
  verb: Verb,
  { document, signal }: { document: CallDocument; signal: AbortSignal },
): Promise<Next> {
  const run = { documentUrl: document.url, signal }
  switch (verb.verb) {
    case 'say':
    case 'play':
    case 'pause':
      await runUtterance(host, verb, run)
      return 'next-verb'
    case 'gather':
      return (await runGather(host, verb, run)) ?? 'next-verb'
    case 'stream':
      return (await runStream(host, verb, run)) ?? 'next-verb'
    case 'dial':
      return (await runDial(host, verb, run)) ?? 'next-verb'
    case 'redirect':
      return { kind: 'url', url: addressIn(document.url, verb.url), method: verb.method, form: [] }
    case 'reject':
      host.reject(verb.reason === 'busy' ? 'busy' : 'no-answer')
      return 'hang-up'
    case 'hangup':
      return 'hang-up'
  }
}

/** The request for a call's fallback document after a failure. */
export function fallbackSource(
  fallback: { url: string; method: string },
  error: TwimlError,
  failed: DocumentSource,
): DocumentSource {
  const form: [string, string][] = [['ErrorCode', String(error.code)]]
  if (failed.kind === 'url') form.push(['ErrorUrl', failed.url])
  return { kind: 'url', url: fallback.url, method: fallback.method, form }
}
