import { assertNever } from '../../src/kernel/errors.ts'
import { INTERRUPTION, planWith } from '../../src/voice/session/call.fixture.ts'
import { throughTo } from '../../src/voice/session/not-through.ts'
import type { Plan, PlannedClip } from '../../src/voice/session/plan.ts'
import type { PastTurn, Resumption } from '../../src/voice/session/resumption.ts'
import type { MixedCall } from './mixed-call.ts'
import { type Before, CLIP_MS, LAW, PLAIN, type Setting } from './mixed-setting.ts'
import { TARGET } from './targets.ts'
import type { WorldOptions } from './world.ts'

/** How the line is, and what is spoken ahead of the call. */
export function lineOf({ marks, gaps, clips }: Setting): Partial<WorldOptions> {
  const clip = [Buffer.from(Buffer.alloc(8 * CLIP_MS, 0xf0).toString('base64'))]
  return {
    ...(marks === 'late' && { marksLateMs: 3_000 }),
    ...(marks === 'never' && { marksLateMs: Number.POSITIVE_INFINITY }),
    marksTwice: marks === 'twice',
    isHeard: (nowMs) => !gaps.some(({ fromMs, forMs }) => fromMs <= nowMs && nowMs < fromMs + forMs),
    clips: Array.from({ length: 2 * clips.length + 2 }, () => clip),
  }
}

/** What the agent of a call is to do. */
export function planOf({ plan, speech, setting = PLAIN }: MixedCall, agentName = 'Robin'): Plan {
  const { maxCallMs, modelSessionMs, idleMs, hasFallback, holdsForTools, greeting } = plan
  const { minSpeechMs, resumeFalseMs } = plan
  const { backchannels, prompts, goodbye, clips, ...facts } = setting
  const { disclosure, fillers, budgetUsd, budgetMs, readsParty, voicemail, lacks, ...others } = facts
  const { dtmf, isResumable, fallbackNumber } = others
  const price = { input: 10, cachedInput: 1, output: 20 }
  return planWith({
    ...{ agentName, maxCallMs, modelSessionMs, holdsForTools, secondVoice: speech !== null },
    ...{ fillers, budgetUsd, budgetMs, readsParty, voicemail, dtmf, isResumable, fallbackNumber },
    capabilities: { ...planWith().capabilities, ...Object.fromEntries(lacks.map((lacking) => [lacking, false])) },
    ...firstWordsOf(clips, greeting, disclosure),
    interruption: { ...INTERRUPTION, minSpeechMs, resumeFalseMs, greetingGuardMs: 500, backchannels },
    idle: { afterMs: idleMs, prompts, goodbye },
    price: { text: price, audio: price },
    fallback: hasFallback ? { price: { text: price, audio: price } } : null,
    asyncTools: ['check'],
  })
}

/** The agent to whom the call is handed: the first words stay those of the first. */
export function otherPlanOf(call: MixedCall): Plan {
  const plan = planOf(call, 'Kim')
  if (!call.other) return plan
  const { minSpeechMs, resumeFalseMs, backchannels, idleMs, prompts, goodbye, clips, ...facts } = call.other
  const kept = plan.clips.filter(({ kind }) => isFirst(kind))
  const own = clips.map((kind) => ({ kind, text: `Other words of a ${kind}.`, ms: CLIP_MS }))
  return {
    ...{ ...plan, ...facts, clips: [...kept, ...own] },
    interruption: { ...plan.interruption, minSpeechMs, resumeFalseMs, backchannels },
    idle: { afterMs: idleMs, prompts, goodbye },
  }
}

/** The same once the call has it: how long that may last, and what it may cost, stays as it was. */
export function kimsPlanOf(call: MixedCall): Plan {
  const { maxCallMs, budgetMs, budgetUsd } = planOf(call)
  return { ...otherPlanOf(call), maxCallMs, budgetMs, budgetUsd }
}

function isFirst(kind: PlannedClip['kind']): boolean {
  return kind === 'disclosure' || kind === 'greeting'
}

/** What was spoken ahead of the first words is said by no model; else what the law wants said stands before the greeting. */
function firstWordsOf(
  kinds: readonly PlannedClip['kind'][],
  greeting: string,
  disclosure: string | null,
): Pick<Plan, 'clips' | 'greeting' | 'disclosure'> {
  const texts: Partial<Record<PlannedClip['kind'], string>> = { disclosure: LAW, greeting }
  const mayBe = (kind: PlannedClip['kind']) =>
    kind === 'disclosure' ? disclosure !== null : kind !== 'greeting' || greeting !== ''
  const clips = kinds
    .filter(mayBe)
    .map((kind) => ({ kind, text: texts[kind] ?? `The words of a ${kind}.`, ms: CLIP_MS }))
  if (clips.some(({ kind }) => isFirst(kind))) return { clips, greeting, disclosure: null }
  return { clips, greeting: greeting === '' ? '' : `${disclosure ?? ''} ${greeting}`.trim(), disclosure }
}

const TAKEN = { role: 'system' as const, text: 'A person has taken the call over.', unheard: '' }
const GREETED = { role: 'agent' as const, text: 'Welcome to the Blue Door.', unheard: '' }

/** What the call goes on from, as it was stored. */
export function resumptionOf({ before }: Setting): Resumption | null {
  if (before === null) return null
  const turns = [...turnsBefore(before)].map((turn, at) => ({ ...turn, seq: at + 1 }))
  const call = { name: 'book_table', argumentsText: '{}', result: null, afterTurns: turns.length }
  return {
    ...{ elapsedMs: 6_000, greetingMs: 300, interruptions: 0, idBase: 100_000, turns },
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
    toolCalls: before === 'tool' ? [call] : [],
  }
}

function turnsBefore(before: Before): Omit<PastTurn, 'seq'>[] {
  switch (before) {
    case 'disclosing':
      return [{ role: 'agent', text: 'This is an', unheard: 'artificial voice.' }]
    case 'handed over':
      return [GREETED, { role: 'system', text: 'The agent Kim has the call from now on.', unheard: '' }]
    case 'greeted':
      return [GREETED]
    case 'cut':
      return [{ ...GREETED, unheard: 'What can I do for you?' }]
    case 'unwritten':
      return [GREETED, { role: 'caller', text: '', unheard: '' }]
    case 'taken over':
      return [GREETED, TAKEN]
    case 'put through':
      return [GREETED, { role: 'system', text: throughTo(TARGET), unheard: '' }]
    case 'asked':
    case 'tool':
      return [GREETED, { role: 'caller', text: 'A table for two.', unheard: '' }]
    default:
      return assertNever(before)
  }
}
