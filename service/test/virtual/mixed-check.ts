import { costOf } from '../../src/platform/realtime/price.ts'
import { replay } from '../../src/voice/event-log/replay.ts'
import type { Span } from './carrier.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { faultsOfAgents } from './mixed-agents.ts'
import { faultsOfAsked } from './mixed-asked.ts'
import { faultsOfExact } from './mixed-exact.ts'
import { LOOK_MS, type Look } from './mixed-look.ts'
import { faultsOfRecord } from './mixed-promises.ts'
import type { MixedRun } from './mixed-run.ts'
import { faultsOfSays } from './mixed-says.ts'
import { faultsOfTimes } from './mixed-times.ts'
import { faultsOfTold } from './mixed-told.ts'
import { TIMES } from './model-world.ts'

/** What may come behind the longest call: its goodbye, what is still played, the last texts, and what waits for a stream or a target. */
const PAST_THE_LONGEST_MS = 60_000
/** How far what a turn says was heard may be from what was; where a stream was lost, what was on its way on it is known to nobody. */
const HEARD_WITHIN_MS = 50
/** From a request to hang up to the end of what is heard. */
const HANG_UP_MS = 150
const ENDED_IN_APOLOGY = 'hung up 1 times, apologised 1 times'
/** So much of an answer is some words of it. */
const WORDS_MS = 1_000
/** Who is owed an answer hears something within 2.5 s, and we look now and then, and the way is long. */
const OWED_MS = 2_500 + 2 * LOOK_MS + 300
/** What the caller said while a model session was lost is found by the next one in what was kept of it, and the silence counted from then. */
const FOUND_LATE_MS = 2_500

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** What is wrong with a call that had these sessions, one after the other; of one whose process was killed nothing more is known. */
export function faultsOfAll(runs: readonly MixedRun[]): string[] {
  return runs.flatMap((run, at) => {
    const faults = run.isKilled ? [] : faultsOfMixed(run)
    return runs.length === 1 ? faults : faults.map((fault) => `on its node ${at + 1}: ${fault}`)
  })
}

/** What is wrong with a call that has been run; empty when nothing is. */
export function faultsOfMixed(run: MixedRun): string[] {
  const { world } = run
  return [
    ...faultsOfEnd(world).filter((fault) => !(isEndedByHand(run) && fault === ENDED_IN_APOLOGY)),
    ...faultsOfAudio(world, (sent) => isGoneOn(run, sent)),
    ...faultsOfHeard(world, HEARD_WITHIN_MS + (isCutShort(run) ? knownLateMs(run) : 0)),
    ...offencesOf(run).map((offence) => `the model was asked for ${offence}`),
    ...faultsOfLength(run),
    ...faultsOfLeft(run),
    ...faultsOfVoices(run),
    ...faultsOfSilence(run),
    ...faultsOfTurns(run),
    ...faultsOfRecord(run),
    ...faultsOfAgents(run),
    ...faultsOfTold(run),
    ...faultsOfTimes(run),
    ...faultsOfSays(run),
    ...faultsOfExact(run),
    ...faultsOfAsked(run),
    ...faultsOfTools(run),
    ...faultsOfNotes(run),
    ...faultsOfCost(run),
    ...faultsOfTargets(run),
    ...unless(replay(world.log.read()).difference === null, 'it cannot be run again'),
  ]
}

/** Whether it was on its way, of more of an answer that seemed whole, as that was asked to end: it is heard, and gone on with. */
function isGoneOn(
  { world: { model, carriers, times } }: MixedRun,
  { answer, atMs }: { answer: number; atMs: number },
): boolean {
  const { responseId, cancelledAtMs } = model.answers[answer] ?? {}
  const isSecond = model.answers[answer - 1]?.responseId === responseId
  const first = carriers.flatMap(({ sent }) => sent).find((one) => one.type === 'media' && one.answer === answer)
  const isBegunSince = first !== undefined && first.atMs > (cancelledAtMs ?? Number.POSITIVE_INFINITY)
  return isSecond && isBegunSince && atMs <= (cancelledAtMs ?? 0) + 2 * times.oneWayMs
}

/** Whoever ends a call does so, also where its caller is being told why it cannot go on. */
function isEndedByHand({ call }: MixedRun): boolean {
  return (
    call.next?.how === 'taken' ||
    call.incidents.some(({ incident }) => incident.type === 'end' || incident.type === 'shut_down')
  )
}

/** One that is asked once more, as nothing has come of an answer, may be at it after all, and says so; so does one that has begun by itself. */
function offencesOf({ world, call }: MixedRun): string[] {
  const mayBeBusy = call.incidents.some(
    ({ incident }) => (incident.type === 'mishap' && incident.what === 'silent') || incident.type === 'own_answer',
  )
  const { offences } = world.model
  return mayBeBusy ? offences.filter((code) => code !== 'conversation_already_has_active_response') : offences
}

/** Whether the stream, or the call, was over before all that was on its way on it had arrived. */
function isCutShort({ world, call }: MixedRun): boolean {
  return (
    call.incidents.some(({ incident }) => incident.type === 'hang_up' || isStopped(incident)) ||
    world.hangUps > 0 ||
    world.apologies > 0 ||
    world.ends[0] === 'caller_hangup' ||
    world.session.state.isLetGo ||
    world.notes.some((note) => note.type === 'state' && note.state === 'detached')
  )
}

/** Whether the process ends the call, whatever is on its way. */
function isStopped(incident: MixedRun['call']['incidents'][number]['incident']): boolean {
  return incident.type === 'shut_down' && incident.how === 'stopped'
}

/** How far back lies what is known of a stream that is gone: an echo that is late looks as one that comes a long way. */
function knownLateMs({ call, world }: MixedRun): number {
  return 2 * call.carrierDelayMs + HANG_UP_MS + world.marksLateMs
}

/** A call ends, whatever happens in it, a little after the longest time that it may take. */
function faultsOfLength({ world, call }: MixedRun): string[] {
  const maxMs = call.plan.maxCallMs + PAST_THE_LONGEST_MS
  const endedMs = world.endedAtMs ?? Number.POSITIVE_INFINITY
  return unless(endedMs <= maxMs, `ended after ${endedMs} ms, of ${call.plan.maxCallMs}`)
}

/** Nothing is left of it, and nobody: no line, no stream, no session of a model, no caller whom nobody talks to. */
function faultsOfLeft({ world, scribes, speeches, listeners, people, targets }: MixedRun): string[] {
  const { session, ends, isCallOver } = world
  const goesOn = ends[0] === 'transferred' || session.state.isLetGo
  return [
    ...session.held.map((held) => `still holds ${held}`),
    ...unless(scribes.openSessions === 0, `${scribes.openSessions} scribes left`),
    ...unless(!speeches.some(({ isOpen }) => isOpen), 'a stream of speech was left'),
    ...listeners.flatMap(({ overs, lateBatches }) => [
      ...unless(overs.length === 1, `a listener was told ${overs.length} times that it is over`),
      ...unless(lateBatches === 0, 'a listener heard something behind the end'),
    ]),
    ...people.flatMap(({ person, listener }) => [
      ...unless(person.isGone, 'a person was left in the call'),
      ...unless(listener.overs.length <= 1, `a person was told ${listener.overs.length} times that it is over`),
    ]),
    ...unless(isCallOver || goesOn, 'the caller was left in the call'),
    ...unless(!(goesOn && targets.where.at === 'room' && !targets.hasTalked), 'the caller was left alone in a room'),
  ]
}

/** One voice at a time: while a person has the call, or somebody is rung, the agent is not sent, and nobody else speaks as a person. */
function faultsOfVoices({ world, looks }: MixedRun): string[] {
  return looks.slice(1).flatMap((look, index) => {
    const before = looks[index]
    if (!before || look.sent < before.sent) return []
    const sent = world.carriers
      .flatMap((carrier) => carrier.sent)
      .filter(({ atMs }) => before.atMs < atMs && atMs < look.atMs)
    const isPersons = look.person !== null && look.person === before.person
    const isHeld = look.hold !== null && look.hold === before.hold
    const isAgents = look.person === null && before.person === null
    return [
      ...unless(
        !isPersons || !sent.some(({ type }) => type === 'media'),
        `the agent spoke over a person at ${look.atMs}`,
      ),
      ...unless(!isHeld || !sent.some(({ type }) => type === 'media'), `the agent spoke over music at ${look.atMs}`),
      ...unless(
        look.isTheirs === false || !isAgents || !before.isTheirs || !sent.some(({ type }) => type === 'person'),
        `a person spoke at ${look.atMs} who has not the call`,
      ),
    ]
  })
}

/** Whoever is owed an answer is not left in silence for long, and nobody is for very long. */
function faultsOfSilence(run: MixedRun): string[] {
  const { world, call, looks } = run
  const sounds = heardIn(run)
  const owedMs = OWED_MS + (world.model.sessions.length > 1 ? FOUND_LATE_MS : 0)
  const { connectMs, firstAudioMs } = { ...TIMES, ...call.times }
  // A model that is silent may be taken for lost, and the next one refuse before it speaks, so that a third is asked.
  // Who was told that something is being looked up waits for it.
  const toolMs = Math.max(...call.tools.map(({ ms }) => ms))
  const anyMs = call.plan.idleMs / 3 + 20_000 + 2 * (connectMs + firstAudioMs) + toolMs
  return [
    ...stretches(looks, ({ isOwed }) => isOwed).flatMap((span) =>
      tooSilent(span, sounds, owedMs, 'who is owed an answer'),
    ),
    ...stretches(looks, ({ isTheirs }) => isTheirs).flatMap((span) => tooSilent(span, sounds, anyMs, 'the caller')),
    ...unless(world.isOver, 'is not over'),
  ]
}

function heardIn({ world, targets }: MixedRun): Span[] {
  const { carriers, caller } = world
  // One that tells that somebody is there, and gives way to an answer, has told it.
  const told = carriers.flatMap(({ sent }) => sent.filter(({ type }) => type === 'sound'))
  const instants = told.map(({ atMs }) => ({ startMs: atMs, endMs: atMs }))
  const all = [...carriers.flatMap(({ sounds }) => sounds), ...instants, ...caller.utterances, ...targets.heard]
  return all.map(({ startMs, endMs }) => ({ startMs, endMs })).sort((a, b) => a.startMs - b.startMs)
}

/** From when until when something was so, each time it was looked at. */
function stretches(looks: readonly Look[], is: (look: Look) => boolean): Span[] {
  const spans: Span[] = []
  let before: Look | null = null
  for (const look of looks) {
    const last = spans.at(-1)
    const goesOn = before !== null && is(before) && before.changes === look.changes
    if (is(look) && goesOn && last) last.endMs = look.atMs
    else if (is(look)) spans.push({ startMs: look.atMs, endMs: look.atMs })
    before = look
  }
  return spans
}

function tooSilent(span: Span, sounds: readonly Span[], maxMs: number, who: string): string[] {
  let quietSinceMs = span.startMs
  const inside = sounds.filter(({ startMs, endMs }) => endMs > span.startMs && startMs < span.endMs)
  for (const { startMs, endMs } of [...inside, { startMs: span.endMs, endMs: span.endMs }]) {
    const ms = Math.round(startMs - quietSinceMs)
    if (ms > maxMs) return [`${who} heard nothing for ${ms} ms from ${Math.round(quietSinceMs)}`]
    quietSinceMs = Math.max(quietSinceMs, endMs)
  }
  return []
}

/** The record is in order, has each answer that was heard, and what a person said. */
function faultsOfTurns({ world, people, resumption }: MixedRun): string[] {
  const before = Math.max(0, ...(resumption?.turns.map(({ seq }) => seq) ?? []))
  const { transcript, model } = world
  const texts = transcript.filter(({ role }) => role === 'supervisor').map(({ text }) => text)
  const said = people.flatMap(({ person }) => person.said)
  const heard = model.answers.filter(({ answer }) => world.heardMs(answer) > WORDS_MS + world.marksLateMs)
  return [
    ...unless(
      transcript.every(({ seq }, index) => seq === before + index + 1),
      `turns are numbered ${transcript.map(({ seq }) => seq)}`,
    ),
    ...unless(
      transcript.every(({ heardMs, sentMs }) => (heardMs ?? 0) <= (sentMs ?? 0)),
      'more was heard than sent',
    ),
    ...unless(
      transcript.every(({ startMs, endMs }) => startMs <= endMs),
      'a turn ends before it begins',
    ),
    ...heard.flatMap(({ itemId, text }) =>
      unless(
        transcript.some((turn) => turn.itemId === itemId && turn.text !== ''),
        `no turn has what was heard of ${itemId}: ${text.slice(0, 20)}`,
      ),
    ),
    ...said.flatMap(({ text }) => unless(texts.includes(text), `no turn has what a person said: ${text}`)),
  ]
}

/** A tool runs at most once for each call of it, and the model is told once. */
function faultsOfTools({ world }: MixedRun): string[] {
  const { toolRuns, model } = world
  const ids = toolRuns.map(({ callId }) => callId)
  const told = model.sessions.flatMap(({ commands }) => {
    const results = commands.flatMap((command) => (command.type === 'tool_result' ? [command.callId] : []))
    return results.length === new Set(results).size ? [] : ['a model was told twice what a tool came to']
  })
  return [...unless(new Set(ids).size === ids.length, 'a tool call was run twice'), ...told]
}

const MAY_FOLLOW: Record<string, readonly string[]> = {
  waiting: ['talking', 'detached', 'draining', 'ended'],
  talking: ['detached', 'draining', 'ended'],
  detached: ['waiting', 'talking', 'draining', 'ended'],
  draining: ['ended'],
  ended: [],
}

/** Who watches is told each state once, and in order. */
function faultsOfNotes({ world: { notes } }: MixedRun): string[] {
  const states = notes.flatMap((note) => (note.type === 'state' ? [note.state] : []))
  const takeovers = notes.flatMap((note) => (note.type === 'taken_over' ? [note.isOn] : []))
  const mutes = notes.flatMap((note) => (note.type === 'muted' ? [note.isOn] : []))
  const wrong = states.slice(1).filter((state, index) => !MAY_FOLLOW[states[index] ?? '']?.includes(state))
  const alternate = (all: readonly boolean[]) => all.every((isOn, index) => isOn === (index % 2 === 0))
  return [
    ...wrong.map((state) => `told of ${state} in ${states}`),
    ...unless(alternate(takeovers), `told of takeovers ${takeovers}`),
    ...unless(takeovers.length % 2 === 0, 'a takeover is never over'),
    ...unless(alternate(mutes), `told of mutes ${mutes}`),
  ]
}

/** What it cost is what its answers used. */
function faultsOfCost({ world, resumption }: MixedRun): string[] {
  const { usage, costUsd, plan } = world.session.state
  // What an earlier session had cost, and had not stored, is not known.
  if (resumption?.costUsd !== undefined) return []
  const dones = world.wire.trace.filter((line) => line.includes('model response_done')).length
  const usd = plan.price ? costOf(plan.price, usage) : null
  return [
    ...unless(usage.outputTokens <= 10 * dones, `used ${usage.outputTokens} tokens in ${dones} answers`),
    ...unless(Math.abs((usd ?? 0) - (costUsd ?? 0)) < 1e-9, `cost ${costUsd}, and used ${usd}`),
  ]
}

/** Nobody is rung for nothing, and who talks to the caller is known to. */
function faultsOfTargets({ world, targets }: MixedRun): string[] {
  const left = targets.legs.filter(({ state }) => state === 'ringing' || state === 'listening')
  const isTold = world.ends[0] === 'transferred' ? targets.putThroughs >= 1 : true
  return [
    ...left.map(({ sid, state }) => `${sid} is still ${state}`),
    ...unless(isTold, 'it was not written down that somebody else has the call'),
  ]
}
