import type { LoadPlan, Providers } from './load.ts'
import type { LoadReport } from './tally.ts'

/** What the runner tells the load's process. */
export type ToLoad = { kind: 'run'; plan: LoadPlan }

/** What the load's process tells the runner: once where its model listens, then what happens in the run. */
export type FromLoad =
  | { kind: 'listening'; providers: Providers }
  | { kind: 'window'; state: 'open' | 'closed' }
  | { kind: 'report'; report: LoadReport }
