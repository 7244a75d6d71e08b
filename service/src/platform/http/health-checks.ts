import { type Clock, withTimeout } from '../../kernel/clock.ts'
import type { Log } from '../log.ts'

/** Something that this process needs to work, or to work in full when `isOptional`: `check` rejects when it does not. */
export type HealthCheck = { name: string; isOptional?: boolean; check(): Promise<void> }

/** How a check went, and how long it took. Why it failed is in the log only. */
export type HealthResult = { name: string; isOptional: boolean; ok: boolean; latencyMs: number }

type Deps = { checks: HealthCheck[]; clock: Clock; log: Log }

const TIMEOUT_MS = 2_000

/** For so long an answer is given again: however many probe, the database is asked once a second. */
const FRESH_MS = 1_000

const late = () => new Error('no answer in time')

/** Asks the checks, all at once and never twice at the same time, and logs when one of them fails or works again. */
export class HealthChecks {
  #deps: Deps
  #latest: Promise<HealthResult[]> | null = null
  #failing = new Set<string>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The result of every check, at most a second old. A check that takes longer than two seconds has failed. */
  results(): Promise<HealthResult[]> {
    this.#latest ??= this.#askAll()
    return this.#latest
  }

  async #askAll(): Promise<HealthResult[]> {
    const results = await Promise.all(this.#deps.checks.map((check) => this.#ask(check)))
    this.#deps.clock.after(FRESH_MS, () => {
      this.#latest = null
    })
    return results
  }

  async #ask(health: HealthCheck): Promise<HealthResult> {
    const { name, isOptional = false } = health
    const { clock } = this.#deps
    const startMs = clock.monotonicMs()
    const err = await withTimeout(
      clock,
      Promise.try(() => health.check()),
      TIMEOUT_MS,
      late,
    ).then(
      () => null,
      (error: unknown) => error,
    )
    this.#tellChange(name, err)
    const latencyMs = Math.round((clock.monotonicMs() - startMs) * 10) / 10
    return { name, isOptional, ok: err === null, latencyMs }
  }

  #tellChange(name: string, err: unknown): void {
    const { log } = this.#deps
    if (err !== null && !this.#failing.has(name)) log.warn({ check: name, err }, 'check failed')
    if (err === null && this.#failing.has(name)) log.info({ check: name }, 'check works again')
    if (err === null) this.#failing.delete(name)
    else this.#failing.add(name)
  }
}
