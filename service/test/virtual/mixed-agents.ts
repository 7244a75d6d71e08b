import { letters } from '../../src/voice/session/word-ends.ts'
import { TIME_UP } from '../../src/voice/session/wrapping-up.ts'
import type { Incident, MixedCall } from './mixed-call.ts'
import { areTheirs } from './mixed-look.ts'
import { happeningsOf, type MixedRun } from './mixed-run.ts'
import { BEGUN, LAW, PLAIN } from './mixed-setting.ts'
import type { Answered } from './model-world.ts'

/** Heard so much less than was made, it was heard to its end. */
const WHOLE_WITHIN_MS = 250
/** What happens to a call may show in what is heard so long after it, and so long before it. */
const CALM_MS = { after: 8_000, before: 5_000 }

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** Who of the agents speaks, what they say before anything else, what they call and use, and how they end the call. */
export function faultsOfAgents(run: MixedRun): string[] {
  return [
    ...faultsOfOrder(run),
    ...faultsOfNames(run),
    ...faultsOfUsage(run),
    ...faultsOfCalls(run),
    ...faultsOfReason(run),
    ...faultsOfGoodbye(run),
    ...faultsOfLaw(run),
    ...faultsOfCuts(run),
  ]
}

/** Nothing of an earlier session is heard once a later one speaks. */
function faultsOfOrder({ world }: MixedRun): string[] {
  let newest = 0
  const sent = world.carriers.flatMap((carrier) => carrier.sent)
  for (const one of sent) {
    if (one.type !== 'media' || world.resumedAtMs.includes(one.atMs)) continue
    const epoch = world.model.answers[one.answer]?.epoch ?? 0
    if (epoch < newest) return [`at ${one.atMs} was sent what a session had made that was left before`]
    newest = epoch
  }
  return []
}

/** What an agent has said is written down as its own. */
function faultsOfNames({ world, handOffs, call }: MixedRun): string[] {
  const [first = { epoch: Number.POSITIVE_INFINITY }] = call.isOthers ? [{ epoch: 0 }] : handOffs
  return world.transcript.flatMap(({ itemId, agentName }) => {
    const answered = world.model.answers.find((one) => one.itemId === itemId)
    const name = answered && (answered.epoch < first.epoch ? 'Robin' : 'Kim')
    return unless(!name || agentName === name, `${itemId} is told to be of ${agentName}, and was ${name}’s`)
  })
}

/** What each answer used is counted once. */
function faultsOfUsage({ world, resumption }: MixedRun): string[] {
  const dones = world.wire.trace.filter((line) => line.includes('model response_done')).length
  const { usage } = world.session.state
  const before = resumption?.usage
  const outputTokens = usage.outputTokens - (before?.outputTokens ?? 0)
  const seconds = usage.audioSeconds - (before?.audioSeconds ?? 0)
  const { usedSeconds } = world.model
  return [
    ...unless(Math.abs(seconds - usedSeconds) < 1e-6, `used ${seconds} s of audio, of ${usedSeconds}`),
    ...unless(outputTokens === 10 * dones, `used ${outputTokens} tokens in ${dones} answers`),
  ]
}

/** Each call of a tool is known, and no session is left in the middle of those that it calls at once. */
function faultsOfCalls({ world }: MixedRun): string[] {
  const called = world.wire.trace.filter((line) => line.includes('model tool_call')).length
  const known = new Set(world.notes.flatMap((note) => (note.type === 'tool' ? [note.callId] : []))).size
  const left = world.model.leftCalling.filter((atMs) => atMs < (world.endedAtMs ?? 0) - 1)
  return [
    ...unless(called === known, `${called} tools were called, and ${known} are known`),
    ...left.map((atMs) => `a session was left at ${atMs} in the middle of the tools that it called`),
  ]
}

/** A call ends for what has ended it. */
function faultsOfReason({ world, call, resumption }: MixedRun): string[] {
  const [reason] = world.ends
  const { plan, costUsd } = world.session.state
  const types = new Set<string>(call.incidents.map(({ incident }) => incident.type))
  const tools = new Set(world.toolRuns.map(({ name }) => name))
  const endedMs = world.endedAtMs ?? 0
  const evidence: Record<string, boolean> = {
    agent_hangup: tools.has('end_call'),
    supervisor: types.has('end'),
    shutdown: types.has('shut_down') || call.next?.how === 'taken',
    voicemail: types.has('machine') || types.has('party') || resumption?.answered != null,
    transferred: types.has('transfer') || tools.has('transfer') || tools.has('warm_transfer') || types.has('shut_down'),
    max_duration:
      endedMs + (resumption?.elapsedMs ?? 0) >=
        Math.min(plan.maxCallMs, plan.budgetMs ?? Number.POSITIVE_INFINITY) - 6_000 ||
      (costUsd ?? 0) >= (plan.budgetUsd ?? Number.POSITIVE_INFINITY),
  }
  const last = world.model.answers.findLast(({ answer }) => world.heardMs(answer) > 0)
  // It may have been called before the time was up.
  const { trace } = world.wire
  const begunAt = trace.findLastIndex((line) => line.includes('model response_started'))
  const done = world.notes.find((note) => note.type === 'tool' && note.name === 'end_call' && note.status === 'ok')
  const callId = done?.type === 'tool' ? done.callId : ''
  const isCalledInIt =
    trace.findIndex((line) => line.endsWith(`-> tool end_call ${callId}`)) > begunAt &&
    trace.findIndex((line) => line.includes('"draining"')) > begunAt
  const isOfAgent = reason === 'agent_hangup' && last !== undefined && isCalledInIt
  return [
    ...unless(evidence[reason ?? ''] ?? true, `ended by ${reason}, of which nothing happened`),
    ...unless(!isOfAgent || !isLastWord(world, last), `ended by ${reason} in: ${last?.instructions}`),
  ]
}

function isLastWord({ session }: MixedRun['world'], { instructions }: Answered): boolean {
  const { goodbye } = session.state.plan.idle
  return instructions === TIME_UP || (goodbye !== '' && instructions?.endsWith(goodbye) === true)
}

/** The words with which the agent ends the call are heard to their end. */
function faultsOfGoodbye({ world, call }: MixedRun): string[] {
  const [reason] = world.ends
  const last = world.model.answers.findLast(({ answer }) => world.heardMs(answer) > 0)
  if ((reason !== 'agent_hangup' && reason !== 'idle_timeout') || !last || world.hangUps === 0) return []
  if (last.cancelledAtMs !== null || world.session.state.timeUp !== null || call.speech !== null) return []
  const sent = world.carriers.flatMap((carrier) => carrier.sent)
  const fromMs = sent.find((one) => one.type === 'media' && one.answer === last.answer)?.atMs ?? 0
  if (happeningsOf(call).some(({ atMs, incident }) => mayCut(incident) && atMs + forMs(incident) >= fromMs)) return []
  const missingMs = last.madeMs - world.heardMs(last.answer)
  return unless(missingMs <= WHOLE_WITHIN_MS, `the last ${missingMs} ms of the goodbye were not heard`)
}

const CUTTING: readonly string[] = ['end', 'mute', 'lose_stream', 'hang_up']

/** Whether it may keep words from being heard: where a supervisor ends the call, or silences it, or its process stops, or its stream is lost. */
function mayCut(incident: Incident): boolean {
  if (incident.type === 'shut_down') return incident.how === 'end' || incident.how === 'stopped'
  // A carrier that takes nothing for so long is taken for gone.
  if (incident.type === 'backlog') return incident.forMs >= 5_000
  return CUTTING.includes(incident.type)
}

/** How long it goes on; what a process does as it stops comes after the time that it is given. */
function forMs(incident: Incident): number {
  if (incident.type === 'shut_down') return incident.afterMs
  return 'forMs' in incident ? incident.forMs : 0
}

/** What the law wants said is heard before anything else of the agent. */
function faultsOfLaw(run: MixedRun): string[] {
  const { world, call, before } = run
  const earlier = run.earlier
  const { disclosure, before: began, voicemail } = call.setting ?? PLAIN
  // It had begun before all that is known of it.
  if (earlier.some(({ itemId }) => itemId === BEGUN)) return []
  if (disclosure === null || (began !== null && began !== 'disclosing')) return []
  // A server that begins by itself was not asked, and nobody tells it what to say. Nor is a provider known that finds its first words too long.
  const isUnsure = ({ incident }: Pick<MixedCall['incidents'][number], 'incident'>) =>
    incident.type === 'own_answer' || (incident.type === 'mishap' && incident.what === 'max_output_tokens')
  const unsure = [...before, run].flatMap((one) =>
    happeningsOf(one.call).flatMap((happens) =>
      isUnsure(happens) ? [happens.atMs + (one.resumption?.elapsedMs ?? 0)] : [],
    ),
  )
  const unsureMs = Math.min(...unsure)
  const law = letters(LAW)
  const isFiller = (text: string) => /ords ?of ?a? ?(filler|apology)/.test(text)
  const said = [...earlier, ...world.transcript]
    .filter(({ role, text, unheard }) => role === 'agent' && text !== '' && !isFiller(text + unheard))
    .sort((a, b) => a.startMs - b.startMs)
  let heard = ''
  for (const { text, itemId, unheard, endMs } of said) {
    if (endMs >= unsureMs) return []
    const own = letters(text)
    // What was begun may be gone on with, or be said again.
    heard = law.startsWith(own) ? own : heard + own
    if (heard.startsWith(law) || own.startsWith(law)) return []
    // A mailbox has its message as it stands.
    if (voicemail?.startsWith(text)) return []
    if (!law.startsWith(heard)) return [`was not told what the law wants said before ${itemId}: ${text} | ${unheard}`]
  }
  return []
}

/** No words of the agent are lost by themselves. */
function faultsOfCuts({ world, call, looks, resumption }: MixedRun): string[] {
  if (call.speech?.some(({ failsAs }) => failsAs)) return []
  const isLasting = ({ incident }: Pick<MixedRun['call']['incidents'][number], 'incident'>) =>
    incident.type !== 'listen' && incident.type !== 'whisper'
  const times = happeningsOf(call).map((one) => (isLasting(one) ? one.atMs : Number.NEGATIVE_INFINITY))
  const mishaps = happeningsOf(call).filter(({ incident }) => incident.type === 'mishap')
  const beforeMs = resumption?.elapsedMs ?? 0
  const firstMishapMs = Math.min(...mishaps.map(({ atMs }) => atMs + beforeMs))
  const keys = world.wire.trace
    .filter((line) => line.includes('carrier key'))
    .map((line) => 1_000 * Number.parseFloat(line))
  const sounds = world.caller.utterances.flatMap(({ startMs, endMs }) => [startMs, endMs])
  const disturbances = [...times, ...keys, ...sounds, world.endedAtMs ?? 0].map((ms) => ms + beforeMs)
  return world.transcript.flatMap(({ itemId, role, unheard, startMs, endMs, sentMs }) => {
    // Until it would have been heard, and that was known.
    const knownMs = Math.max(endMs, startMs + (sentMs ?? 0)) + world.marksLateMs
    const [fromMs, untilMs] = [startMs - CALM_MS.after, knownMs + CALM_MS.before]
    const isCalm =
      !disturbances.some((one) => fromMs < one && one < untilMs) &&
      untilMs < firstMishapMs &&
      // Nor is a long answer heard out once the call has to end.
      areTheirs(looks, { fromMs: fromMs - beforeMs, untilMs: untilMs - beforeMs })
    return unless(role !== 'agent' || unheard === '' || !isCalm, `${itemId} lost by itself: ${unheard}`)
  })
}
