import { pressed } from '../../src/records/pressed-keys.ts'
import { ASK_IF_THERE, GOODBYE } from '../../src/voice/session/silence.ts'
import { areTheirs } from './mixed-look.ts'
import { happeningsOf, type MixedRun } from './mixed-run.ts'
import { PLAIN } from './mixed-setting.ts'

/** So long what a model is to be asked for may wait for its turn. */
const WITHIN_MS = 8_000
/** What has happened so long before it has been dealt with. */
const BEFORE_MS = 6_000
/** What may keep a model from being asked, or from taking it, while the agent has the call. */
const UPSETTING: readonly string[] = ['own_answer', 'machine', 'party', 'lose_stream']

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

/** What a silent caller is asked is no answer; what is asked behind more words of theirs is one to both. */
function faultsOfKeysAnswered(run: MixedRun): string[] {
  const { world } = run
  const answers = askedIn(run).filter(({ instructions }) => !isForSilence(run, instructions))
  return world.transcript.flatMap(({ role, text, itemId }) => {
    if (role !== 'system' || !text.startsWith(pressed(''))) return []
    const atMs = world.keptAtMs.get(itemId) ?? 0
    const isAnswered = answers.some((one) => one.atMs >= atMs && one.atMs <= atMs + WITHIN_MS)
    return unless(isAnswered || !isCalm(run, atMs), `nobody answered, from ${atMs} on: ${text}`)
  })
}

function isForSilence({ call }: MixedRun, instructions: string | null): boolean {
  const { prompts, goodbye } = call.setting ?? PLAIN
  const texts = [...prompts, goodbye, ...(call.other ? [...call.other.prompts, call.other.goodbye] : [])]
  const isOwn = texts.some((text) => text !== '' && instructions?.endsWith(text))
  return instructions === ASK_IF_THERE || instructions === GOODBYE || isOwn
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

/** Whether the agent has the call from then on, and for long enough, with a model that answers, and nothing happens to it but that the caller speaks. */
function isCalm({ call, looks }: MixedRun, fromMs: number): boolean {
  const untilMs = fromMs + WITHIN_MS
  const happens = happeningsOf(call).some(({ atMs, incident }) => {
    if (incident.type === 'mishap') return atMs <= untilMs
    // One that is lost, and had again, is asked the same.
    const isUpsetting = incident.type === 'lose_model' ? incident.how !== 'retry' : UPSETTING.includes(incident.type)
    return isUpsetting && fromMs - BEFORE_MS <= atMs && atMs <= untilMs
  })
  return !happens && areTheirs(looks, { fromMs, untilMs })
}
