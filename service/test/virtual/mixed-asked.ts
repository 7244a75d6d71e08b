import { pressed } from '../../src/records/pressed-keys.ts'
import { ASK_IF_THERE } from '../../src/voice/session/silence.ts'
import { happeningsOf, type MixedRun } from './mixed-run.ts'
import { PLAIN } from './mixed-setting.ts'

/** So long what a model is to be asked for may wait for its turn. */
const WITHIN_MS = 8_000
/** What has happened so long before it has been dealt with. */
const BEFORE_MS = 6_000
/** What keeps nobody from being asked. */
const QUIET: readonly string[] = ['listen', 'whisper', 'say', 'unmute', 'rate_limited', 'backlog', 'trouble']

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** What a model is asked for, as it is to be: what a supervisor says, an answer to keys, and the agent's own words for who is silent. */
export function faultsOfAsked(run: MixedRun): string[] {
  return [...faultsOfSaysAsked(run), ...faultsOfKeysAnswered(run), ...faultsOfOwnPrompts(run), ...faultsOfWhispers(run)]
}

type Asked = { atMs: number; epoch: number; instructions: string | null }

function askedIn({ world }: MixedRun): Asked[] {
  return world.model.sessions.flatMap(({ commands, sentAtMs, epoch }) =>
    commands.flatMap((one, at) =>
      one.type === 'respond' ? [{ atMs: sentAtMs[at] ?? 0, epoch, instructions: one.instructions }] : [],
    ),
  )
}

function faultsOfSaysAsked(run: MixedRun): string[] {
  const asked = askedIn(run)
  return run.says.flatMap(({ text, atMs }) => {
    const isAsked = asked.some(({ instructions }) => instructions?.includes(text))
    return unless(isAsked || !isCalm(run, atMs), `no model was asked to say, from ${atMs} on: ${text}`)
  })
}

function faultsOfKeysAnswered(run: MixedRun): string[] {
  const { world } = run
  const asked = askedIn(run)
  return world.transcript.flatMap(({ role, text, itemId }) => {
    if (role !== 'system' || !text.startsWith(pressed(''))) return []
    const atMs = world.keptAtMs.get(itemId) ?? 0
    const isAnswered = asked.some((one) => one.atMs >= atMs && one.atMs <= atMs + WITHIN_MS)
    return unless(isAnswered || !isCalm(run, atMs), `nobody answered, from ${atMs} on: ${text}`)
  })
}

/** An agent that has words of its own for who is silent uses them. */
function faultsOfOwnPrompts(run: MixedRun): string[] {
  const { prompts } = run.call.setting ?? PLAIN
  const others = run.call.other?.prompts ?? prompts
  const from = run.call.isOthers ? Number.NEGATIVE_INFINITY : (run.handOffs[0]?.epoch ?? Number.POSITIVE_INFINITY)
  return askedIn(run).flatMap(({ instructions, epoch, atMs }) => {
    const own = epoch < from ? prompts : others
    const isBuiltIn = instructions === ASK_IF_THERE && own.length > 0
    return unless(!isBuiltIn, `asked at ${atMs} in other words than its own who is silent`)
  })
}

/** What a supervisor tells the agent stands in the record, once. */
function faultsOfWhispers({ world, whispers }: MixedRun): string[] {
  return whispers.flatMap(({ text }) => {
    const times = world.transcript.filter((one) => one.role === 'supervisor' && one.text === text).length
    return unless(times === 1, `stands ${times} times in the record: ${text}`)
  })
}

/** Whether the agent has the call then, and for long enough, and nothing happens to it but that the caller speaks. */
function isCalm(run: MixedRun, fromMs: number): boolean {
  const { world, call, targets, looks } = run
  const untilMs = fromMs + WITHIN_MS
  const isMeanwhile = (atMs: number) => fromMs - BEFORE_MS <= atMs && atMs <= untilMs
  const happens = happeningsOf(call).some(
    ({ atMs, incident: { type } }) => type === 'mishap' || (!QUIET.includes(type) && isMeanwhile(atMs)),
  )
  const isTheirs = looks.every(({ atMs, timeUp, isSpent }) => atMs > untilMs || (timeUp === null && !isSpent))
  const isOver = world.endedAtMs === null || world.endedAtMs <= untilMs
  const isPut = world.toolRuns.some(({ name }) => name.endsWith('transfer')) || targets.legs.length > 0
  return !happens && isTheirs && !isOver && !isPut
}
