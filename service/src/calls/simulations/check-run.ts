import { objectIn } from '../../kernel/json-object.ts'
import { WITHOUT_BLANKS } from '../../kernel/writing.ts'
import type { SimulatedCall, SimulatedTurn } from '../../records/simulations/run-store.ts'
import type { EndedBy, Expectations, NumberRange } from '../../records/simulations/scenario.ts'
import { hasAll } from './simulated-tools.ts'

/** What was said and done in a simulated call. */
export type RunFacts = { turns: SimulatedTurn[]; calls: SimulatedCall[]; endedBy: EndedBy }

/** What of a run is not as it was expected, as sentences; patterns are looked for elsewhere. */
export function checkRun(expected: Expectations, { turns, calls, endedBy }: RunFacts): string[] {
  const ofAgent = turns.filter(({ role }) => role === 'agent')
  // Once for all phrases: where signs are words, each thousand of them takes half a millisecond.
  const said = plainWords(ofAgent.map(({ text }) => text).join(' '))
  return [
    ...notInOrder(expected.heard ?? [], said),
    ...(expected.not_heard ?? [])
      .filter((phrase) => said.includes(plainWords(phrase)))
      .map((phrase) => `"${phrase}" was heard.`),
    ...toolsMissing(expected.tools ?? [], calls),
    ...(expected.not_called ?? []).filter((name) => calls.some((call) => call.name === name)).map(wasCalled),
    ...outcomeMissing(expected.outcome, calls),
    ...(expected.ended_by !== undefined && expected.ended_by !== endedBy
      ? [`The call was ended by ${endedBy}, and not by ${expected.ended_by}.`]
      : []),
    ...outside('turns of the agent', expected.turns, ofAgent.length),
    ...outside('milliseconds for the slowest answer', expected.reply_ms, slowestMs(turns)),
  ]
}

/** The longest that the agent took for a turn; null when it needed no model. */
export function slowestMs(turns: SimulatedTurn[]): number | null {
  const taken = turns.flatMap(({ replyMs }) => (replyMs === null ? [] : [replyMs]))
  return taken.length === 0 ? null : Math.max(...taken)
}

const SIGN = new RegExp(WITHOUT_BLANKS.source, 'gu')

/** Letters and digits alone, in lower case: `Table 7, please.` is `table 7 please`. Without blanks each sign is a word: `予約` is `予 約`. */
function plainWords(text: string): string {
  return ` ${text
    .normalize()
    .toLowerCase()
    .replace(/[’']/g, '')
    .replace(SIGN, ' $& ')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()} `
}

function saysPhrase(text: string, phrase: string): boolean {
  return plainWords(text).includes(plainWords(phrase))
}

/** The first phrase that is not where it should be: those behind it cannot be looked for. `said` is in plain words. */
function notInOrder(phrases: string[], said: string): string[] {
  let rest = said
  for (const phrase of phrases) {
    const wanted = plainWords(phrase)
    const at = rest.indexOf(wanted)
    if (at < 0) return [`"${phrase}" was not heard${said.includes(wanted) ? ' where it should be' : ''}.`]
    // The space behind a phrase is the one before the next.
    rest = rest.slice(at + wanted.length - 1)
  }
  return []
}

type WantedTool = NonNullable<Expectations['tools']>[number]

function toolsMissing(wanted: WantedTool[], calls: SimulatedCall[]): string[] {
  let from = 0
  for (const tool of wanted) {
    const at = calls.findIndex((call, index) => index >= from && isMeant(tool, call))
    if (at < 0) return [notCalled(tool, calls)]
    from = at + 1
  }
  return []
}

function isMeant({ name, arguments: wanted = {}, output }: WantedTool, call: SimulatedCall): boolean {
  return call.name === name && hasAll(call.arguments, wanted) && (output === undefined || call.result.includes(output))
}

function notCalled({ name, arguments: wanted, output }: WantedTool, calls: SimulatedCall[]): string {
  const withWhat = wanted === undefined ? '' : ` with ${JSON.stringify(wanted)}`
  const told = output === undefined ? '' : ` and told ${JSON.stringify(output)}`
  const called = calls.map((call) => `${call.name} ${call.arguments.slice(0, 200).toWellFormed()}`.trim()).join(', ')
  return `${name} was not called${withWhat}${told} where it should be; called was ${called === '' ? 'nothing' : called}.`
}

function wasCalled(name: string): string {
  return `${name} was called.`
}

function outcomeMissing(wanted: Expectations['outcome'], calls: SimulatedCall[]): string[] {
  if (!wanted) return []
  const noted = calls.filter(({ name, status }) => name === 'record_outcome' && status === 'ok')
  const recorded = noted.map((call) => objectIn(call.arguments) ?? {})
  const tags = recorded.flatMap((each) => (Array.isArray(each['tags']) ? (each['tags'] as unknown[]) : []))
  const outcome = recorded.map((each) => each['outcome']).findLast((each) => typeof each === 'string') ?? null
  const missing = (wanted.tags ?? [])
    .filter((tag) => !tags.includes(tag))
    .map((tag) => `The tag ${tag} was not recorded.`)
  if (wanted.outcome === undefined || (typeof outcome === 'string' && saysPhrase(outcome, wanted.outcome)))
    return missing
  const instead = outcome === null ? 'none was' : `it was "${String(outcome)}"`
  return [...missing, `The outcome "${wanted.outcome}" was not recorded: ${instead}.`]
}

function outside(what: string, range: NumberRange | undefined, value: number | null): string[] {
  if (!range) return []
  const { min = -Infinity, max = Infinity } = range
  if (value !== null && value >= min && value <= max) return []
  const bounds = [
    ...(range.min === undefined ? [] : [`at least ${range.min}`]),
    ...(range.max === undefined ? [] : [`at most ${range.max}`]),
  ]
  return [`There were ${value ?? 'no'} ${what}: expected were ${bounds.join(' and ')}.`]
}
