import { letters } from '../../src/voice/session/word-ends.ts'
import { spokenMs } from './brain.ts'
import { happeningsOf, type MixedRun } from './mixed-run.ts'
import { CLIP_MS, LAW, PLAIN } from './mixed-setting.ts'
import { TIMES } from './model-world.ts'

const EXACTLY = 'Say exactly this, and nothing else: '
/** How much later words may be heard than they could be. */
const SLACK_MS = 1_000
/** What happens to a call may keep words from being said so long after it. */
const BEFORE_MS = 15_000
/** A voice of its own is asked for, and speaks what was written. */
const VOICE_MS = 2_000

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** What the agent is given to say first, and what it leaves on a mailbox, is heard whole, and once, unless something comes between. */
export function faultsOfExact(run: MixedRun): string[] {
  return [...faultsOfGreeting(run), ...faultsOfMessage(run)]
}

function faultsOfGreeting(run: MixedRun): string[] {
  const { greeting } = run.call.plan
  if (greeting === '' || run.resumption !== null) return []
  const times = timesSaid(run, greeting)
  const connectMs = run.world.times.connectMs
  const untilMs = 2 * CLIP_MS + connectMs + saidWithinMs(run, `${LAW} ${greeting}`)
  return [
    ...unless(times <= 1, `was greeted ${times} times`),
    ...unless(times >= 1 || !isUndisturbed(run, { fromMs: 0, untilMs }), `was not greeted by ${untilMs}`),
  ]
}

function faultsOfMessage(run: MixedRun): string[] {
  const { voicemail } = run.call.setting ?? PLAIN
  if (voicemail === null) return []
  const [fromMs = null] = run.world.model.sessions.flatMap(({ commands, sentAtMs }) =>
    commands.flatMap((one, at) =>
      one.type === 'respond' && one.instructions === EXACTLY + voicemail ? [sentAtMs[at] ?? 0] : [],
    ),
  )
  const times = timesSaid(run, voicemail)
  const untilMs = (fromMs ?? 0) + saidWithinMs(run, voicemail)
  const isLeft = fromMs === null || times >= 1 || !isUndisturbed(run, { fromMs, untilMs, isOfMachine: true })
  return [
    ...unless(times <= 1, `left its message ${times} times`),
    ...unless(isLeft, `left no message, from ${fromMs} until ${untilMs}`),
  ]
}

function timesSaid({ world }: MixedRun, text: string): number {
  const said = world.transcript.filter(({ role }) => role === 'agent').map((one) => letters(one.text))
  return said.join(' ').split(letters(text)).length - 1
}

/** From when it is asked for words until they are heard and known to be. */
function saidWithinMs({ world, call }: MixedRun, text: string): number {
  const { firstAudioMs, deltaMs, deltaEveryMs, oneWayMs } = { ...TIMES, ...world.times }
  const heardMs = spokenMs(text)
  const madeMs = (heardMs / deltaMs + 1) * deltaEveryMs
  const voiceMs = call.speech ? VOICE_MS : 0
  return firstAudioMs + Math.max(madeMs, heardMs) + 2 * oneWayMs + 2 * call.carrierDelayMs + voiceMs + SLACK_MS
}

type Stretch = { fromMs: number; untilMs: number; isOfMachine?: boolean }

/** Whether nothing but the conversation happens meanwhile, and nobody but the agent is heard. */
function isUndisturbed(run: MixedRun, { fromMs, untilMs, isOfMachine = false }: Stretch): boolean {
  const { world, call } = run
  const isMeanwhile = (startMs: number, endMs = startMs) => fromMs - BEFORE_MS <= endMs && startMs <= untilMs
  const happens = happeningsOf(call).some(({ atMs, incident: { type } }) => {
    if (type === 'mishap') return atMs <= untilMs
    // What makes it leave a message is no disturbance of that.
    if (isOfMachine && (type === 'machine' || type === 'party')) return false
    return type !== 'listen' && type !== 'whisper' && isMeanwhile(atMs)
  })
  // A message is left whatever the machine says meanwhile.
  const isSpokenOver =
    !isOfMachine &&
    (world.caller.utterances.some(({ startMs, endMs }) => isMeanwhile(startMs, endMs)) ||
      world.keys.some(({ atMs }) => isMeanwhile(atMs)))
  const isOthers = world.toolRuns.some(
    ({ name, atMs }) => name.endsWith('transfer') && atMs - (run.resumption?.elapsedMs ?? 0) <= untilMs,
  )
  const isVoiceLost = call.speech?.some(({ failsAs }) => failsAs) === true
  return !happens && !isSpokenOver && !isOthers && !isVoiceLost && !isOverBy(run, untilMs)
}

/** Whether its time is up by then, or its money is spent, or it moves on. */
function isOverBy({ call, looks, resumption }: MixedRun, untilMs: number): boolean {
  const { maxCallMs } = call.plan
  const budgetMs = call.setting?.budgetMs ?? Number.POSITIVE_INFINITY
  const moves = call.next ? call.next.afterMs <= untilMs : false
  const isUp = looks.some(({ atMs, timeUp, isSpent }) => (timeUp != null || isSpent) && atMs <= untilMs)
  return moves || isUp || Math.min(maxCallMs, budgetMs) - (resumption?.elapsedMs ?? 0) <= untilMs
}
