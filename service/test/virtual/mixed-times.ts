import { KEPT_MS } from '../../src/voice/caller-audio.ts'
import { ASK_IF_THERE, GOODBYE, STAGES } from '../../src/voice/session/silence.ts'
import type { Span } from './carrier.ts'
import { LOOK_MS } from './mixed-look.ts'
import type { MixedRun } from './mixed-run.ts'
import { PLAIN } from './mixed-setting.ts'
import { TIMES } from './model-world.ts'

/** In what an agent is told that is to go on with words of its own. */
const GONE_ON_WITH = /was not heard|Go on from there/
/** Behind the onset that makes a sound of a caller speech, until it is told. */
const KNOWN_LATE_MS = 250

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** When the agent asks who is silent, and when the time of a call is up. */
export function faultsOfTimes(run: MixedRun): string[] {
  return [...faultsOfPrompts(run), ...faultsOfTimeUp(run), ...faultsOfCallersTurns(run), ...faultsOfAgentsTurns(run)]
}

/** What a caller says is found in the audio to about so much; where a model was lost meanwhile, in what was kept of it. */
const FOUND_WITHIN_MS = 600

/** So long a pause makes two turns of two sounds. */
const PAUSE_MS = 1_000

function isClose(one: Span, other: Span | undefined): boolean {
  return other !== undefined && one.startMs < other.endMs + PAUSE_MS && other.startMs < one.endMs + PAUSE_MS
}

/** So long after a call is over at its carrier, its session may go on. */
const CUT_WITHIN_MS = 5_000

/** A turn of the caller's stands where they spoke. */
function faultsOfCallersTurns({ world, call, resumption, targets }: MixedRun): string[] {
  const isSure = world.carriers.length === 1 && (call.setting ?? PLAIN).gaps.length === 0
  const isGone = world.notes.some((note) => note.type === 'state' && note.state === 'detached')
  const isHopeless = call.incidents.some(({ incident }) => incident.type === 'lose_model' && incident.how === 'fatal')
  if (!isSure || isGone || isHopeless || targets.legs.length + targets.heard.length > 0) return []
  const beforeMs = resumption?.elapsedMs ?? 0
  const { connectMs } = world.times
  return world.transcript.flatMap(({ role, text, itemId, startMs, endMs }) => {
    const own = world.caller.utterances.filter((one) => one.text === text)
    const [said] = own
    // Who was cut off in the middle of it has said less.
    const isCut = said !== undefined && said.endMs > (world.endedAtMs ?? 0) - CUT_WITHIN_MS
    // What follows a cough that closely is one sound with it.
    const isOneSound = world.caller.utterances.some((one) => one !== said && isClose(one, said))
    // A session that was opened in the middle of it has heard its end alone.
    const isParted = world.model.sessions.some(
      ({ openedAtMs }) => said && said.startMs < openedAtMs && openedAtMs < said.endMs,
    )
    // Nor is more kept for one than that.
    const session = world.model.sessions.findLast(({ openedAtMs }) => openedAtMs < (world.keptAtMs.get(itemId) ?? 0))
    const isOld = said !== undefined && session !== undefined && said.startMs < session.openedAtMs + connectMs - KEPT_MS
    if (role !== 'caller' || !said || isCut || isOneSound || isParted || isOld || own.length > 1 || text.length < 10)
      return []
    const fromMs = said.startMs + beforeMs
    const untilMs = said.endMs + beforeMs
    const isRight = Math.abs(startMs - fromMs) <= FOUND_WITHIN_MS && Math.abs(endMs - untilMs) <= FOUND_WITHIN_MS + 200
    return unless(isRight, `${itemId} was said from ${fromMs} to ${untilMs}, and stands at ${startMs} to ${endMs}`)
  })
}

/** A turn of the agent's begins when the caller began to hear it. */
function faultsOfAgentsTurns({ world, call, resumption }: MixedRun): string[] {
  const withinMs = 100 + 2 * call.carrierDelayMs + world.marksLateMs
  if (!Number.isFinite(world.session.state.playback.roundTripMs) || world.carriers.length > 1) return []
  // One that goes on with what it was stopped in is heard in pieces.
  if (world.resumedAtMs.length > 0) return []
  const heard = world.carriers.flatMap((carrier) => carrier.heard)
  return world.transcript.flatMap(({ itemId, startMs, heardMs, endMs }) => {
    const answered = world.model.answers.find((one) => one.itemId === itemId)
    const spans = heard.filter((one) => one.answer === answered?.answer)
    const [first] = spans
    if (!answered || !first || (heardMs ?? 0) === 0) return []
    const fromMs = first.startMs + (resumption?.elapsedMs ?? 0)
    const untilMs = (spans.at(-1)?.endMs ?? 0) + (resumption?.elapsedMs ?? 0)
    return [
      ...unless(
        Math.abs(startMs - fromMs) <= withinMs,
        `${itemId} was heard from ${fromMs} on, and begins at ${startMs}`,
      ),
      ...unless(
        Math.abs(endMs - untilMs) <= withinMs + 300,
        `${itemId} was heard until ${untilMs}, and ends at ${endMs}`,
      ),
    ]
  })
}

/** Whoever speaks, is spoken to, or has just pressed keys is not asked whether they are there. */
function faultsOfPrompts({ world, call }: MixedRun): string[] {
  const { setting = PLAIN, other, plan } = call
  const texts = [...setting.prompts, ...(other?.prompts ?? []), setting.goodbye, other?.goodbye ?? ''].filter(
    (text) => text !== '',
  )
  const leastMs = Math.min(plan.idleMs, other?.idleMs ?? plan.idleMs) / STAGES - 2 * call.carrierDelayMs - 50
  const isPrompt = (words: string | null) =>
    words === ASK_IF_THERE ||
    words === GOODBYE ||
    texts.some((text) => words?.endsWith(text) && !GONE_ON_WITH.test(words))
  const heard = world.carriers.flatMap((carrier) => carrier.heard)
  const isLost = (one: Span) =>
    setting.gaps.some(({ fromMs, forMs }) => fromMs < one.endMs && one.startMs < fromMs + forMs)
  // Nobody hears a caller whose model is in a hole, until that is noticed; a server that begins by itself is asked again behind that.
  const isUnknown = ({ incident }: MixedRun['call']['incidents'][number]) =>
    incident.type === 'own_answer' || (incident.type === 'lose_model' && incident.how === 'hole')
  if (call.incidents.some(isUnknown)) return []
  const knownMs = { ...TIMES, ...call.times }.onsetMs + KNOWN_LATE_MS
  const said = world.caller.utterances.filter(
    (one) => one.text.length > 5 && one.endMs - one.startMs >= 800 && !isLost(one),
  )
  const keys = world.keys.map(({ atMs }) => ({ startMs: atMs, endMs: atMs }))
  const sounds = [...heard, ...said, ...keys]
  return world.model.sessions.flatMap(({ commands, sentAtMs, openedAtMs }) =>
    commands.flatMap((command, at) => {
      if (command.type !== 'respond' || !isPrompt(command.instructions)) return []
      const nowMs = sentAtMs[at] ?? 0
      // Nor is one heard who speaks while a model is opened, until it has heard what was kept.
      if (openedAtMs > 0 && nowMs < openedAtMs + world.times.connectMs + 2 * world.times.oneWayMs + knownMs) return []
      const ends = sounds.filter(({ startMs }) => startMs < nowMs - knownMs).map(({ endMs }) => Math.min(endMs, nowMs))
      const quietMs = nowMs - Math.max(0, ...ends)
      return unless(quietMs >= leastMs, `asked at ${nowMs} who is silent for ${quietMs} ms: ${command.instructions}`)
    }),
  )
}

/** The time of a call is up when it is, and no sooner. */
function faultsOfTimeUp({ call, looks, resumption }: MixedRun): string[] {
  const { setting = PLAIN, plan } = call
  const beforeMs = resumption?.elapsedMs ?? 0
  const maxMs = Math.max(1, plan.maxCallMs - beforeMs)
  const dayMs = Math.max(1, Math.min(maxMs, (setting.budgetMs ?? Number.POSITIVE_INFINITY) - beforeMs))
  return looks.flatMap(({ atMs, timeUp }) => {
    if (timeUp === undefined) return []
    return [
      ...unless(timeUp === null || atMs >= dayMs, `its time was up at ${atMs}, of ${dayMs}`),
      ...unless(timeUp === 'call' || atMs < maxMs + LOOK_MS, `its time was not up at ${atMs}, of ${maxMs}`),
    ]
  })
}
