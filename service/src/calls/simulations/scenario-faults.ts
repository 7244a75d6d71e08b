import type { FaultDetail } from '../../kernel/errors.ts'
import { patternFault } from '../../platform/pattern-search.ts'
import type { Expectations, NumberRange, Scenario } from '../../records/simulations/scenario.ts'

/** What is wrong with scenarios that their schema cannot say, each with its path. */
export function scenarioFaults(scenarios: Scenario[], root: string): FaultDetail[] {
  return scenarios.flatMap((scenario, index) => {
    const path = `${root}/${index}`
    const isRepeated = scenarios.findIndex(({ name }) => name === scenario.name) < index
    return [
      ...(isRepeated ? [{ path: `${path}/name`, message: 'is that of another scenario' }] : []),
      ...callerFaults(scenario.caller, `${path}/caller`),
      ...resultFaults(scenario.tool_results ?? [], `${path}/tool_results`),
      ...expectFaults(scenario.expect ?? {}, `${path}/expect`),
    ]
  })
}

function callerFaults({ steps, stays, persona, goal, max_turns }: Scenario['caller'], path: string): FaultDetail[] {
  if (steps === undefined && persona === undefined) return [{ path, message: 'needs steps, or a persona' }]
  if (steps !== undefined && persona !== undefined)
    return [{ path: `${path}/persona`, message: 'must not be given together with steps' }]
  if (persona !== undefined)
    return stays === undefined ? [] : [{ path: `${path}/stays`, message: 'goes with steps only' }]
  return [
    ...(goal === undefined ? [] : [{ path: `${path}/goal`, message: 'goes with persona only' }]),
    ...(max_turns === undefined ? [] : [{ path: `${path}/max_turns`, message: 'goes with persona only' }]),
  ]
}

function resultFaults(results: NonNullable<Scenario['tool_results']>, path: string): FaultDetail[] {
  return results.flatMap(({ output, error }, index) =>
    (output === undefined) === (error === undefined)
      ? [{ path: `${path}/${index}`, message: 'needs output or error, and not both' }]
      : [],
  )
}

function expectFaults(expected: Expectations, path: string): FaultDetail[] {
  const { heard = [], not_heard = [], matches = [], not_matches = [], turns, reply_ms } = expected
  const wordless = (name: string, phrases: string[]) =>
    phrases.flatMap((phrase, index) =>
      /[\p{L}\p{N}]/u.test(phrase)
        ? []
        : [{ path: `${path}/${name}/${index}`, message: 'must have a letter or a digit' }],
    )
  const unreadable = (name: string, patterns: string[]) =>
    patterns.flatMap((pattern, index) => {
      const fault = patternFault(pattern)
      return fault === null
        ? []
        : [{ path: `${path}/${name}/${index}`, message: `must be a regular expression: ${fault}` }]
    })
  return [
    ...wordless('heard', heard),
    ...wordless('not_heard', not_heard),
    ...unreadable('matches', matches),
    ...unreadable('not_matches', not_matches),
    ...rangeFaults(`${path}/turns`, turns),
    ...rangeFaults(`${path}/reply_ms`, reply_ms),
  ]
}

function rangeFaults(path: string, range: NumberRange | undefined): FaultDetail[] {
  if (!range) return []
  const { min, max } = range
  if (min === undefined && max === undefined) return [{ path, message: 'needs min, max or both' }]
  return min !== undefined && max !== undefined && min > max ? [{ path, message: 'has a min above its max' }] : []
}
