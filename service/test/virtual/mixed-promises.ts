import { letters } from '../../src/voice/session/word-ends.ts'
import type { MixedRun } from './mixed-run.ts'

/** Of a cost: what adding up in another order may change. */
const ROUNDING_USD = 1e-9
/** Of a sentence that was stopped and gone on with, each part is known in whole ms. */
const ROUNDING_MS = 20

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** What the record of a call says must be so of what was said, sent and heard, and of what those who watched were told. */
export function faultsOfRecord(run: MixedRun): string[] {
  return [
    ...faultsOfOrder(run),
    ...faultsOfWords(run),
    ...faultsOfSent(run),
    ...faultsOfOutcomes(run),
    ...faultsOfLive(run),
    ...faultsOfCosts(run),
    ...faultsOfPauses(run),
  ]
}

/** What a caller said stands in the order in which it was said; what a stream was lost in the middle of may be two turns. */
function faultsOfOrder({ world }: MixedRun): string[] {
  const { caller, transcript } = world
  const said = caller.utterances.map(({ text }) => text)
  let last = 0
  for (const { role, text } of transcript) {
    // Sounds that the model took for one turn are one turn.
    for (let rest = role === 'caller' ? text : ''; rest !== ''; ) {
      const at = said.findIndex((one, index) => index >= last && one !== '' && rest.startsWith(one))
      if (at === -1) return [`what the caller said is out of order at: ${rest}`]
      rest = rest.slice(said[at]?.length).trimStart()
      last = at
    }
  }
  return []
}

/** The words of an answer are its own: what was heard of it and what was not, and nothing twice. */
function faultsOfWords({ world }: MixedRun): string[] {
  return world.transcript.flatMap(({ itemId, text, unheard }) => {
    const answered = world.model.answers.find((one) => one.itemId === itemId)
    if (!answered) return []
    const isPart = letters(answered.text).startsWith(letters(text + unheard))
    return unless(isPart, `${itemId} has words that are not of it: ${text} | ${unheard}`)
  })
}

/** No more was sent of an answer than went to a carrier, or to a socket that was just gone. */
function faultsOfSent({ world }: MixedRun): string[] {
  const sent = world.carriers.flatMap((carrier) => [...carrier.sent, ...carrier.lost])
  return world.transcript.flatMap(({ itemId, sentMs }) => {
    const answered = world.model.answers.find((one) => one.itemId === itemId)
    if (!answered || sentMs === null) return []
    const pieces = sent.flatMap((one) => (one.type === 'media' && one.answer === answered.answer ? [one.ms] : []))
    const ms = pieces.reduce((sum, one) => sum + one, 0)
    return unless(sentMs <= ms + ROUNDING_MS, `${itemId} was sent for ${ms} ms, and its turn says ${sentMs}`)
  })
}

/** A tool that has begun comes to one thing, unless the call was over before; one that was refused comes to that alone. */
function faultsOfOutcomes({ world }: MixedRun): string[] {
  const told = new Map<string, string[]>()
  for (const note of world.notes) {
    if (note.type === 'tool') told.set(note.callId, [...(told.get(note.callId) ?? []), note.status])
  }
  const ended = world.session.state.runningTools.concat(world.session.state.asyncTools).map(({ callId }) => callId)
  const run = world.toolRuns.map(({ callId }) => callId)
  return [...told].flatMap(([callId, statuses]) => {
    const outcomes = statuses.filter((status) => status !== 'started')
    const isBegun = statuses[0] === 'started'
    return [
      ...unless(
        isBegun === run.includes(callId),
        `${callId} was told as ${statuses}, and ran: ${run.includes(callId)}`,
      ),
      ...unless(
        outcomes.length === (ended.includes(callId) ? 0 : 1) && statuses.length === outcomes.length + (isBegun ? 1 : 0),
        `${callId} came to ${statuses}`,
      ),
    ]
  })
}

/** Who watches is told what the record says. */
function faultsOfLive({ world }: MixedRun): string[] {
  const deltas = new Map<string, string>()
  for (const note of world.notes) {
    if (note.type === 'turn_delta') deltas.set(note.itemId, (deltas.get(note.itemId) ?? '') + note.text)
  }
  const interrupted = new Set(world.notes.flatMap((note) => (note.type === 'interrupted' ? [note.itemId] : [])))
  return world.transcript
    .filter(({ role }) => role === 'agent')
    .flatMap(({ itemId, text, unheard, ...turn }) => [
      ...unless(
        letters(deltas.get(itemId) ?? '').startsWith(letters(text + unheard)),
        `${itemId} was told as ${deltas.get(itemId)}, and its turn says ${text} | ${unheard}`,
      ),
      ...unless(
        !interrupted.has(itemId) || turn.interrupted || world.resumedAtMs.length > 0,
        `${itemId} was told to be cut short, and its turn says it was not`,
      ),
    ])
}

/** What a call cost is what its turns did, and what no turn has. */
function faultsOfCosts({ world, resumption }: MixedRun): string[] {
  const { costUsd, unsaidUsd } = world.session.state
  if (costUsd === null) return []
  const usd = world.transcript.reduce((sum, turn) => sum + (turn.costUsd ?? 0), unsaidUsd + (resumption?.costUsd ?? 0))
  return unless(Math.abs(usd - costUsd) < ROUNDING_USD, `cost ${costUsd}, and its turns ${usd}`)
}

/** The recorder is told of each pause once, and of its end, and no other. */
function faultsOfPauses({ world, pauses, resumption }: MixedRun): string[] {
  const wasPaused = resumption?.isRecordingPaused ?? false
  const isRight = pauses.every((isPaused, at) => (isPaused === (at % 2 === 0)) !== wasPaused)
  const isPaused = pauses.at(-1) ?? wasPaused
  return unless(isRight && isPaused === world.session.state.isRecordingPaused, `the recorder was told ${pauses}`)
}
