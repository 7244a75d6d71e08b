import { keyTones } from '../audio/tone.ts'
import type { Call } from './call.ts'
import type { DocumentSource } from './call-plan.ts'
import { prepareCaller } from './caller.ts'
import { elapsed } from './clock.ts'
import { runDetection } from './detect-machine.ts'
import { NOBODY } from './far-end.ts'
import { type DocumentEnd, fallbackSource, runDocument } from './program.ts'
import { aborted, announce, runUtterance } from './run-utterance.ts'
import { TwimlError } from './verbs.ts'

const USUAL_RING_MS = 1000
// What a caller hears of a document that cannot be run.
const SORRY = 'We are sorry. An application error has occurred. Goodbye.'
// Documents that lead to one another without end must not keep a call busy for ever.
const MOST_DOCUMENTS = 1000

/** An inbound call from the first ring to its end: the instructions decide whether it is answered. */
export async function liveInbound(call: Call): Promise<void> {
  call.seat(await prepareCaller(call.plan.party, call.world.speech))
  if (call.plan.instructions) await runInstructions(call, call.plan.instructions)
  call.answer()
  call.end('completed', 'document')
}

/** A call to a party, from the dialling to its end. */
export async function liveOutbound(call: Call): Promise<void> {
  const { party, sendDigits, instructions, afterInstructions } = call.plan
  call.seat(await prepareCaller(party, call.world.speech))
  call.tell('initiated')
  if (!(await isAnswered(call))) return
  call.answer()
  if (sendDigits !== '') await announce(call, keyTones(sendDigits), { times: 1, signal: call.over })
  const detecting = detect(call)
  if (!call.plan.machineDetection?.asyncCallback) await detecting
  const how = instructions ? await runInstructions(call, instructions) : 'ran'
  if (afterInstructions === 'stay' && how === 'ran') await stay(call)
  call.end('completed', 'document')
  await detecting
}

/** Leaves the call to whoever dialled it, until it ends or is sent elsewhere. */
async function stay(call: Call): Promise<void> {
  if (call.over.aborted) return
  call.connect(NOBODY)
  call.becomeReady()
  await aborted(call.nextDocument())
  const redirect = call.takeRedirect()
  if (redirect) await runInstructions(call, redirect)
}

async function isAnswered(call: Call): Promise<boolean> {
  const { party, ringTimeoutMs } = call.plan
  const ringMs = party.ringMs ?? USUAL_RING_MS
  if (party.whenRung !== 'failed') call.ring()
  const outcome = ringMs > ringTimeoutMs ? 'no-answer' : (party.whenRung ?? 'answers')
  // A telephone that nobody takes rings for as long as it may.
  const waitMs = outcome === 'no-answer' ? ringTimeoutMs : ringMs
  if (!(await elapsed(call.world.clock, waitMs, call.over))) return false
  if (outcome !== 'answers') call.end(outcome, 'not-answered')
  return outcome === 'answers'
}

async function detect(call: Call): Promise<void> {
  const { machineDetection, sendDigits } = call.plan
  if (machineDetection && sendDigits === '') await runDetection(call, machineDetection)
}

/** Runs a document and those it leads to; tells whether they ran out or said to hang up. */
async function runInstructions(call: Call, first: DocumentSource): Promise<'ran' | 'hang-up'> {
  let next: DocumentEnd = first
  for (let count = 0; typeof next === 'object' && !call.over.aborted; count++) {
    if (count === MOST_DOCUMENTS) {
      call.notify({ code: 11200, message: 'the documents lead on without end' })
      return 'hang-up'
    }
    next = await runOne(call, next)
  }
  return next === 'last-verb' ? 'ran' : 'hang-up'
}

/** Runs one document; gives what comes after it. */
async function runOne(call: Call, source: DocumentSource): Promise<DocumentEnd> {
  const signal = call.nextDocument()
  try {
    const end = await runDocument(call, withAnsweredBy(call, source), {
      signal,
      onVerb: ({ verb }) => {
        call.timeline.add({ kind: 'verb', verb })
        if (verb !== 'reject') call.answer()
      },
    })
    return call.takeRedirect() ?? end
  } catch (error) {
    if (!(error instanceof TwimlError)) throw error
    if (signal.aborted) return call.takeRedirect() ?? 'hang-up'
    call.notify({ code: error.code, message: error.message })
    return recover(call, error, source)
  }
}

/** The call's fallback document, or an apology when there is none or it is the fallback that failed. */
async function recover(call: Call, error: TwimlError, failed: DocumentSource): Promise<DocumentEnd> {
  const { fallback } = call.plan
  const isFallback = failed.kind === 'url' && failed.url === fallback.url
  if (fallback.url !== '' && !isFallback) return fallbackSource(fallback, error, failed)
  call.answer()
  const signal = call.nextDocument()
  await runUtterance(call, { verb: 'say', text: SORRY, times: 1 }, { documentUrl: '', signal })
  return call.takeRedirect() ?? 'hang-up'
}

function withAnsweredBy(call: Call, source: DocumentSource): DocumentSource {
  const { answeredBy } = call.record
  if (!answeredBy || source.kind === 'inline') return source
  return { ...source, form: [...source.form, ['AnsweredBy', answeredBy]] }
}
