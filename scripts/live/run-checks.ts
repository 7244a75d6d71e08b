import type { Check, Finding, Subject } from './check.ts'
import { explain } from './faults.ts'

/** What came of a check. */
export type Outcome = { name: string; state: Finding['state'] | 'FAIL'; found: string; todo: string | null }

const LATE = 'TimeoutError'

/**
 * Runs all checks, those that need none of the others at the same time, and tells each outcome in the order of the list as
 * soon as it is known. A check that is not done within its own limit has failed, and so has each that is not done when
 * `totalMs` have passed.
 */
export async function runChecks(
  checks: Check[],
  subject: Subject,
  { totalMs, tell }: { totalMs: number; tell: (outcome: Outcome) => void },
): Promise<Outcome[]> {
  const total = limit(totalMs)
  const running = new Map<string, Promise<Outcome>>()
  for (const check of checks) {
    const before = check.needs.map((name) => beforeIt(running, check, name))
    running.set(check.name, perform(check, { subject, total: total.signal, before }))
  }
  const outcomes: Outcome[] = []
  for (const outcome of running.values()) {
    outcomes.push(await outcome)
    tell(await outcome)
  }
  total.cancel()
  return outcomes
}

type Circumstances = { subject: Subject; total: AbortSignal; before: Promise<Outcome>[] }

/** Earlier in the list, so that no check can wait for itself. */
function beforeIt(running: Map<string, Promise<Outcome>>, check: Check, name: string): Promise<Outcome> {
  const needed = running.get(name)
  if (!needed) throw new Error(`"${check.name}" needs "${name}", which does not come before it`)
  return needed
}

async function perform(check: Check, { subject, total, before }: Circumstances): Promise<Outcome> {
  const { name, limitMs } = check
  const missing = (await Promise.all(before)).find(({ state: needed }) => needed !== 'ok')
  if (missing) return { name, state: 'skipped', found: `It needs "${missing.name}".`, todo: null }
  const own = limit(limitMs)
  const signal = AbortSignal.any([total, own.signal])
  try {
    signal.throwIfAborted()
    const { todo = null, ...finding } = await Promise.race([check.run(subject, signal), aborted(signal)])
    return { name, ...finding, todo }
  } catch (error) {
    return { name, state: 'FAIL', ...explain(error) }
  } finally {
    own.cancel()
  }
}

/** A limit whose timer keeps the process alive: what waits may hold nothing that does. */
function limit(afterMs: number): { signal: AbortSignal; cancel(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('too late', LATE)), afterMs)
  return { signal: controller.signal, cancel: () => clearTimeout(timer) }
}

/** Rejects when the signal says so, for a check that does not heed it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
