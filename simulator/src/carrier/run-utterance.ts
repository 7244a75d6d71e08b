import { keyTones } from '../audio/tone.ts'
import { wavToMulaw } from '../audio/wav.ts'
import { Announcement } from './announcement.ts'
import { elapsed } from './clock.ts'
import { addressIn } from './documents.ts'
import { NOBODY } from './far-end.ts'
import { HttpFailure } from './http-exchange.ts'
import { TwimlError, type Utterance } from './verbs.ts'
import type { VerbHost } from './world.ts'

const MOST_FILE_BYTES = 16 * 1024 * 1024

/** How an utterance is run: where its relative addresses start, who hears keys meanwhile, what ends it early. */
export type UtteranceRun = { documentUrl: string; onKey?: (digit: string) => void; signal: AbortSignal }

/** Says, plays or pauses; returns when it was heard to its end, or when the signal aborts. */
export async function runUtterance(host: VerbHost, utterance: Utterance, run: UtteranceRun): Promise<void> {
  if (utterance.verb === 'pause') {
    host.line.connect({ ...NOBODY, key: run.onKey ?? (() => {}) })
    await elapsed(host.world.clock, utterance.lengthMs, run.signal)
    return
  }
  const audio = await soundOf(host, utterance, run)
  if (audio && !run.signal.aborted) await announce(host, audio, { ...run, times: utterance.times })
}

/** Plays audio into the call's line, `times` times. */
export async function announce(
  host: VerbHost,
  audio: Uint8Array,
  { times, onKey, signal }: { times: number; onKey?: (digit: string) => void; signal: AbortSignal },
): Promise<void> {
  const announcement = new Announcement(audio, onKey ? { times, onKey } : { times })
  host.line.connect(announcement)
  await Promise.race([announcement.played, aborted(signal)])
  host.line.connect({ ...NOBODY, key: onKey ?? (() => {}) })
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

async function soundOf(
  host: VerbHost,
  utterance: Exclude<Utterance, { verb: 'pause' }>,
  { documentUrl, signal }: UtteranceRun,
): Promise<Uint8Array | null> {
  if (utterance.verb === 'say') return host.world.speech.say(utterance.text)
  if (utterance.keys !== '') return keyTones(utterance.keys)
  const address = addressIn(documentUrl, utterance.url)
  try {
    const { status, body } = await host.world.webhooks.send(
      { address, method: 'GET', form: [], signature: host.faults.callbacks.signature, mostBytes: MOST_FILE_BYTES },
      signal,
    )
    if (status !== 200) throw new TwimlError(11200, `${address} answered ${status}`)
    return await wavToMulaw(body)
  } catch (error) {
    // A sound that cannot be had is skipped; the caller must not lose the call for it.
    if (error instanceof HttpFailure && error.reason === 'aborted') return null
    const message = error instanceof Error ? error.message : String(error)
    host.notify({ code: error instanceof TwimlError ? error.code : 13701, message: `${address}: ${message}` })
    return null
  }
}
