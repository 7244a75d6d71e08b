import { pressed } from '../../src/records/pressed-keys.ts'
import type { PastTurn } from '../../src/voice/session/resumption.ts'
import type { MixedRun } from './mixed-run.ts'
import { PLAIN } from './mixed-setting.ts'

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** What a model knows of its call when it is asked for words: all that happened by then, once. */
export function faultsOfTold(run: MixedRun): string[] {
  return [...faultsOfFacts(run), ...faultsOfHistory(run), ...faultsOfKeys(run), ...faultsOfBelief(run)]
}

/** Something that a model has to know from then on. */
type Fact = { text: string; atMs: number }

function factsOf({ world, whispers, outcomes, handOffs, resumption }: MixedRun): Fact[] {
  const said = world.transcript.filter(
    ({ role, text }) => role === 'supervisor' && !whispers.some((one) => one.text === text),
  )
  const keys = world.transcript.filter(({ role, text }) => role === 'system' && text.startsWith(pressed('')))
  const called = (resumption?.toolCalls ?? []).flatMap(({ result }) => (result === null ? [] : [result]))
  return [
    ...called.map((text) => ({ text, atMs: -1 })),
    ...whispers,
    ...handOffs.map(({ atMs }) => ({
      text: 'The agent Kim has the call from now on. What it was told: A table.',
      atMs,
    })),
    ...[...said, ...keys].map(({ text, itemId }) => ({ text, atMs: world.keptAtMs.get(itemId) ?? 0 })),
    ...outcomes.filter(({ outcome }) => !outcome.endsCall).map(({ outcome, atMs }) => ({ text: outcome.output, atMs })),
  ]
}

/** Whoever is asked for words knows all that it was to be told by then. */
function faultsOfFacts(run: MixedRun): string[] {
  const facts = factsOf(run)
  return run.world.model.sessions.flatMap((session) => {
    const missing = new Set<string>()
    let told = ''
    for (const [at, command] of session.commands.entries()) {
      const nowMs = session.sentAtMs[at] ?? 0
      if (command.type === 'system_message') told += `${command.text}\n`
      else if (command.type === 'tool_result') told += `${command.output}\n`
      else if (command.type === 'respond') {
        for (const { text, atMs } of facts) if (atMs < nowMs && !told.includes(text)) missing.add(`${text} by ${nowMs}`)
      }
    }
    return [...missing].slice(0, 1).map((text) => `model ${session.epoch} was not told: ${text}`)
  })
}

/** A session that goes on with a call is told the record as it is then, in its order. */
function faultsOfHistory({ world, resumption }: MixedRun): string[] {
  const before: readonly Pick<PastTurn, 'role' | 'text'>[] = resumption?.turns ?? []
  return world.openings.flatMap(({ session, history, turns }) => {
    const lines = history.split('\n')
    let at = 0
    for (const { role, text } of [...before, ...turns]) {
      const line = `${role}: ${text.replaceAll(/\s+/gu, ' ').trim()}`
      if (text === '') continue
      const found = lines.findIndex(
        (one, index) => index >= at && (role === 'agent' ? one.startsWith(line) : one === line),
      )
      if (found === -1) return [`model ${session.epoch} was opened without: ${line}`]
      at = found + 1
    }
    return []
  })
}

/** Each key of the caller's that the call could take is in its record, once. */
function faultsOfKeys({ world }: MixedRun): string[] {
  const { endKey } = world.session.state.plan.dtmf
  const noted = world.notes.flatMap((note) => (note.type === 'digits' ? [note.digits] : [])).join('')
  const taken = world.keys
    .filter(({ isTaken }) => isTaken)
    .map(({ digit }) => digit)
    .join('')
  const kept = world.transcript
    .flatMap(({ role, text }) =>
      role === 'system' && text.startsWith(pressed('')) ? [text.slice(pressed('').length)] : [],
    )
    .join('')
  return [
    ...unless(
      noted.replaceAll(endKey, '') === taken.replaceAll(endKey, ''),
      `keys ${taken} were pressed, and told as ${noted}`,
    ),
    ...unless(kept === noted, `keys ${noted} were told, and kept as ${kept}`),
  ]
}

/** What was cut short is told as long before a model is asked for more. */
const TOLD_MS = 300

/** A model that is asked for words takes for heard of its own so far what was. */
function faultsOfBelief({ world, call }: MixedRun): string[] {
  const { setting = PLAIN } = call
  if (call.speech !== null || setting.lacks.includes('truncation') || world.resumedAtMs.length > 0) return []
  if (!Number.isFinite(world.session.state.playback.roundTripMs)) return []
  const withinMs = 60 + 2 * call.carrierDelayMs + world.marksLateMs
  const sent = world.carriers.flatMap((carrier) => carrier.sent)
  const heard = world.carriers.flatMap((carrier) => carrier.heard)
  return world.model.sessions.flatMap(({ epoch, asked }) => {
    const last = asked.at(-1)
    if (!last) return []
    const byMs = last.atMs - TOLD_MS - withinMs
    const own = world.model.answers.filter((one) => one.epoch === epoch)
    return own.flatMap(({ answer, itemId }) => {
      const pieces = sent.filter((one) => one.type === 'media' && one.answer === answer)
      const sentMs = pieces.at(-1)?.atMs ?? Number.POSITIVE_INFINITY
      const wholeMs = pieces.reduce((sum, one) => sum + ('ms' in one ? one.ms : 0), 0)
      // What was not heard to its end may yet be, until the line is emptied.
      const cutAtMs = sent.find(({ type, atMs }) => type === 'clear' && atMs >= sentMs)?.atMs
      const heardAtMs = heard.findLast((one) => one.answer === answer)?.endMs
      const isWhole = world.heardMs(answer) >= wholeMs
      const overAtMs = (isWhole ? heardAtMs : cutAtMs) ?? Number.POSITIVE_INFINITY
      const isOver = overAtMs < byMs
      const takenMs = last.heardMs.get(itemId) ?? 0
      const heardMs = Math.round(world.heardMs(answer))
      const isRight = !isOver || Math.abs(takenMs - heardMs) <= withinMs
      return unless(isRight, `model ${epoch} takes ${takenMs} ms of ${itemId} for heard, of which ${heardMs} were`)
    })
  })
}
