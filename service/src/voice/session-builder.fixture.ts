import { Registry } from 'prom-client'
import { TestClock } from '../../test/harness/clock.ts'
import { makeLog } from '../platform/log.ts'
import { makeTracing } from '../platform/tracing.ts'
import { makeLiveMetrics } from './live-metrics.ts'
import { makeSessionBuilder, type SessionBuilder } from './session-builder.ts'

type Deps = Parameters<typeof makeSessionBuilder>[0]

/** Makes sessions that nobody writes down, records, watches or puts through, but for what is given. */
export function sessionBuilderWith(given: Pick<Deps, 'clock' | 'model'> & Partial<Deps>): SessionBuilder {
  return makeSessionBuilder({
    ...{ tools: [], modelSessionMs: 3_000_000 },
    log: makeLog({ level: 'silent', secrets: [] }),
    tracing: makeTracing(new TestClock()),
    journal: { of: () => ({ append: () => {}, forget: () => {}, tool: () => {} }) },
    metrics: makeLiveMetrics(new Registry(), () => 0),
    isHeld: async () => true,
    transferOf: () => ({
      expectTarget: () => {},
      begin: async () => ({ cancel: () => {}, leave: () => {} }),
      putThrough: () => {},
    }),
    checkpoint: () => {},
    carrierCalls: { hangUp: async () => 'ended', apologise: () => {} },
    ...given,
  })
}
