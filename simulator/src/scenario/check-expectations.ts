import { plainWords, saysPhrase } from '../model/words.ts'
import type { CallFacts } from './call-facts.ts'
import type { Expectations, Range } from './scenario-shape.ts'

/** One thing that was expected, and whether it was so; `skipped` when nobody could look. */
export type Finding = { what: string; state: 'ok' | 'failed' | 'skipped'; detail: string }

type Measured = { [Name in keyof Expectations]?: number | null }

/** Compares a call with what was expected of it. What was not expected is not looked at, but for errors: those always are. */
export function checkExpectations(facts: CallFacts, expected: Expectations): Finding[] {
  return [
    ...exactly('status', expected.status, facts.end.status),
    ...exactly('ended_by', expected.ended_by, facts.end.by),
    ...(expected.heard ? [inOrder('heard', expected.heard, facts.heard)] : []),
    ...(expected.not_heard ?? []).map((phrase) => absent(phrase, facts.heard)),
    ...(expected.understood ? [inOrder('understood', expected.understood, facts.understood)] : []),
    ...ranges(expected, measured(facts)),
    ...(expected.tools ? [toolsInOrder(expected.tools, facts)] : []),
    noOthers('model_errors', expected.model_errors ?? [], modelErrors(facts)),
    noOthers(
      'notifications',
      expected.notifications ?? [],
      facts.notifications.map(({ code }) => code),
    ),
    noOthers(
      'script',
      [],
      facts.sessions.flatMap(({ problems }) => problems),
    ),
  ]
}

function measured({ measures, sessions }: CallFacts): Measured {
  return {
    first_word_ms: measures?.firstWordMs ?? null,
    reply_gap_ms: measures && measures.replyGapsMs.length > 0 ? Math.max(...measures.replyGapsMs) : null,
    longest_silence_ms: measures?.longestSilenceMs ?? null,
    duration_ms: measures?.durationMs ?? null,
    agent_voiced_share: measures?.agentVoicedShare ?? null,
    caller_voiced_share: measures?.callerVoicedShare ?? null,
    clears: measures?.clears ?? null,
    clicks: measures?.clicks ?? null,
    repeats: measures?.repeats ?? null,
    model_sessions: sessions.length,
    truncations: sessions.reduce((sum, { truncations }) => sum + truncations.length, 0),
  }
}

function ranges(expected: Expectations, values: Measured): Finding[] {
  const names = Object.keys(values) as (keyof Expectations)[]
  return names.flatMap((name) => {
    const range = expected[name] as Range | undefined
    return range === undefined ? [] : [within(name, range, values[name] ?? null)]
  })
}

function within(what: string, range: Range, value: number | null): Finding {
  const { min, max } =
    typeof range === 'number' ? { min: range, max: range } : { min: -Infinity, max: Infinity, ...range }
  const ok = value !== null && value >= min && value <= max
  const shown = value === null ? 'nothing to measure' : String(Math.round(value * 1000) / 1000)
  return { what, state: stateOf(ok), detail: ok ? shown : `${shown}, expected ${rangeText(min, max)}` }
}

function rangeText(min: number, max: number): string {
  if (min === max) return String(min)
  if (min === -Infinity) return `at most ${max}`
  return max === Infinity ? `at least ${min}` : `${min} to ${max}`
}

function exactly(what: string, expected: string | undefined, actual: string): Finding[] {
  if (expected === undefined) return []
  const ok = expected === actual
  return [{ what, state: stateOf(ok), detail: ok ? actual : `${actual}, expected ${expected}` }]
}

function inOrder(what: string, phrases: string[], text: string): Finding {
  let rest = ` ${plainWords(text)} `
  for (const phrase of phrases) {
    const wanted = ` ${plainWords(phrase)} `
    const at = rest.indexOf(wanted)
    if (at < 0) return { what, state: 'failed', detail: `no "${phrase}" in "${text}" where it should be` }
    // The space behind a phrase is the one before the next.
    rest = rest.slice(at + wanted.length - 1)
  }
  return { what, state: 'ok', detail: `${phrases.length} of ${phrases.length}` }
}

function absent(phrase: string, text: string): Finding {
  const ok = !saysPhrase(text, phrase)
  return { what: 'not_heard', state: stateOf(ok), detail: ok ? `"${phrase}"` : `"${phrase}" was heard` }
}

function toolsInOrder(expected: NonNullable<Expectations['tools']>, { tools }: CallFacts): Finding {
  const what = 'tools'
  const actual = tools.map(({ name }) => name).join(', ') || 'none'
  if (tools.length !== expected.length)
    return {
      what,
      state: 'failed',
      detail: `${actual}, expected ${expected.map(({ name }) => name).join(', ') || 'none'}`,
    }
  for (const [index, wanted] of expected.entries()) {
    const call = tools[index]
    const complaint = call ? toolComplaint(wanted, call) : 'missing'
    if (complaint) return { what, state: 'failed', detail: `call ${index + 1}: ${complaint}` }
  }
  return { what, state: 'ok', detail: actual }
}

function toolComplaint(
  wanted: NonNullable<Expectations['tools']>[number],
  call: CallFacts['tools'][number],
): string | null {
  if (call.name !== wanted.name) return `${call.name}, expected ${wanted.name}`
  const given = JSON.parse(call.arguments) as Record<string, unknown>
  for (const [key, value] of Object.entries(wanted.arguments ?? {})) {
    if (JSON.stringify(given[key]) !== JSON.stringify(value))
      return `${key} is ${JSON.stringify(given[key])}, expected ${JSON.stringify(value)}`
  }
  if (wanted.output === undefined || call.output?.includes(wanted.output)) return null
  return `its output is ${call.output ?? 'missing'}, expected one with ${wanted.output}`
}

function modelErrors({ sessions }: CallFacts): string[] {
  return sessions.flatMap(({ errors }) => errors.map(({ code }) => code ?? 'unknown'))
}

function noOthers<T extends string | number>(what: string, expected: T[], actual: T[]): Finding {
  const others = actual.filter((each) => !expected.includes(each))
  return {
    what,
    state: stateOf(others.length === 0),
    detail: others.length === 0 ? 'none unexpected' : `unexpected: ${others.join(', ')}`,
  }
}

function stateOf(ok: boolean): Finding['state'] {
  return ok ? 'ok' : 'failed'
}
