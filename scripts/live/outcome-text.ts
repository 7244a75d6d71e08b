import type { Outcome } from './run-checks.ts'

const STATE_CHARS = 9
const NAME_CHARS = 18

/** An outcome for people: one line, and one more for each thing to do. */
export function outcomeText({ name, state, found, todo }: Outcome): string {
  const line = `${state.padEnd(STATE_CHARS)}${name.padEnd(NAME_CHARS)}${found}`
  const things = todo === null ? [] : todo.split('\n')
  return [line, ...things.map((thing) => `${' '.repeat(STATE_CHARS + NAME_CHARS)}→ ${thing}`)].join('\n')
}

/** How many came out how, and how long it took. */
export function summaryText(outcomes: Outcome[], durationMs: number): string {
  const count = (state: Outcome['state']) => outcomes.filter((outcome) => outcome.state === state).length
  const seconds = (durationMs / 1_000).toFixed(1)
  return `${count('ok')} ok, ${count('FAIL')} failed, ${count('skipped')} skipped in ${seconds} s`
}
