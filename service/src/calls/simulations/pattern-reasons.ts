import type { Clock } from '../../kernel/clock.ts'
import { makePatternSearch, type PatternFound } from '../../platform/pattern-search.ts'
import type { Expectations } from '../../records/simulations/scenario.ts'
import type { RunFacts } from './check-run.ts'

/**
 * Which patterns the agent's turns do not match as was expected, as sentences. `scenario` names a scenario of a simulation: where to
 * look for its patterns once took too long, they are not looked for again.
 */
export type PatternReasons = (scenario: string, expected: Expectations, facts: RunFacts) => Promise<string[]>

/** Of all patterns of a run: what is no trap takes a thousandth of it. */
const WITHIN_MS = 100
/** Scenarios that are remembered for their patterns; those before them are tried again. */
const MAX_SLOW = 1_000

export function makePatternReasons(clock: Clock): PatternReasons {
  const findPatterns = makePatternSearch(clock)
  const slow = new Set<string>()

  function noteSlow(scenario: string): void {
    const [oldest] = slow
    if (slow.size >= MAX_SLOW && oldest !== undefined) slow.delete(oldest)
    slow.add(scenario)
  }

  return async (scenario, { matches = [], not_matches = [] }, { turns }) => {
    const patterns = [...matches, ...not_matches]
    if (slow.has(scenario)) return ['To look for its patterns took too long in another run: make them simpler.']
    const texts = turns.flatMap(({ role, text }) => (role === 'agent' ? [text] : []))
    const found = await findPatterns({ patterns, texts, withinMs: WITHIN_MS })
    if (found.includes(null)) noteSlow(scenario)
    return patterns.flatMap((pattern, index) =>
      reasonOf(pattern, { isFound: found[index] ?? null, isWanted: index < matches.length }),
    )
  }
}

function reasonOf(pattern: string, { isFound, isWanted }: { isFound: PatternFound; isWanted: boolean }): string[] {
  if (isFound === null) return [`To look for ${pattern} took too long: make it simpler.`]
  if (isFound === isWanted) return []
  return [isFound ? `A turn of the agent matches ${pattern}.` : `No turn of the agent matches ${pattern}.`]
}
