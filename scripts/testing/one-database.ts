/**
 * Database tests that `npm test` runs on one of the two databases alone, because they take ten seconds or more; named, and in
 * `npm run test:full`, they run on both, as all others do in every run. What is asked of one database, or differs between them, is in
 * neither list.
 */
export type OneDatabase = Record<'embedded' | 'server', readonly string[]>

/**
 * On the embedded one, whose only connection shows what waits for itself: routes and what stands behind them, and the program that is
 * killed with its database. On the server, on which transactions overlap: whatever wants the same at once; and, as it leaves the processor
 * to them, calls that are heard at their own pace.
 */
export const ON_ONE_DATABASE: OneDatabase = {
  embedded: [
    'service/src/agents/agent-version-routes.db.test.ts',
    'service/src/calls/browser-call-routes.db.test.ts',
    'service/src/calls/call-progress-routes.db.test.ts',
    'service/src/calls/carrier-words.db.test.ts',
    'service/src/calls/inbound-decision.db.test.ts',
    'service/src/calls/outbound-routes.db.test.ts',
    'service/src/records/analytics/analytics-routes.db.test.ts',
    'service/src/records/spent-today.db.test.ts',
    'service/src/voice/live-routes.db.test.ts',
    'service/src/voice/stream-begin.db.test.ts',
    'service/test/acting-for.db.test.ts',
    'service/test/audit-log.db.test.ts',
    'service/test/call.db.test.ts',
    'service/test/canary.db.test.ts',
    'service/test/chat.db.test.ts',
    'service/test/client.db.test.ts',
    'service/test/getting-started.db.test.ts',
    'service/test/governed-rollout.db.test.ts',
    'service/test/isolation.db.test.ts',
    'service/test/kill.db.test.ts',
    'service/test/long-rows.db.test.ts',
    'service/test/not-set-up.db.test.ts',
    'service/test/people.db.test.ts',
    'service/test/recorded-call.db.test.ts',
    'service/test/second-drivers.db.test.ts',
    'service/test/sso.db.test.ts',
    'service/test/supervisor-actions.db.test.ts',
    'service/test/tenant-removal.db.test.ts',
    'service/test/tenant-tools.db.test.ts',
  ],
  server: [
    'service/src/agents/rollout-governance-routes.db.test.ts',
    'service/src/agents/rollout-routes.db.test.ts',
    'service/src/calls/erasing/erase-routes.db.test.ts',
    'service/src/calls/erasing/erasing-tenants.db.test.ts',
    'service/src/calls/erasing/number-erasure-routes.db.test.ts',
    'service/src/calls/erasing/session-age.db.test.ts',
    'service/src/calls/incoming-routes.db.test.ts',
    'service/src/calls/make-call-routes.db.test.ts',
    'service/src/calls/orphaned-calls.db.test.ts',
    'service/src/calls/transfers.db.test.ts',
    'service/src/delivery/deliverer.db.test.ts',
    'service/src/delivery/notify.db.test.ts',
    'service/src/operators/callback-task-routes.db.test.ts',
    'service/src/operators/missed-calls.db.test.ts',
    'service/src/operators/operator-queue-routes.db.test.ts',
    'service/src/operators/sweeps/dispatch-sweep-store.db.test.ts',
    'service/src/records/analytics/add-up-days.db.test.ts',
    'service/src/records/evaluations/after-call.db.test.ts',
    'service/src/records/evaluations/scorer.db.test.ts',
    'service/src/records/long-lists.db.test.ts',
    'service/src/records/session-search.db.test.ts',
    'service/src/tenancy/credentials.db.test.ts',
    'service/src/voice/lines/lines.db.test.ts',
    'service/src/voice/media-stream.db.test.ts',
    'service/test/after-call.db.test.ts',
    'service/test/api-by-chance.db.test.ts',
    'service/test/api-docs.db.test.ts',
    'service/test/campaign-call.db.test.ts',
    'service/test/campaigns.db.test.ts',
    'service/test/corpus.db.test.ts',
    'service/test/delivery-killed.db.test.ts',
    'service/test/dial-gate.db.test.ts',
    'service/test/drain.db.test.ts',
    'service/test/make-call.db.test.ts',
    'service/test/number-erasure-killed.db.test.ts',
    'service/test/outbound-call.db.test.ts',
    'service/test/said-ahead.db.test.ts',
    'service/test/scoring-killed.db.test.ts',
    'service/test/second-voice.db.test.ts',
    'service/test/simulation-by-voice-killed.db.test.ts',
    'service/test/simulation-killed.db.test.ts',
    'service/test/simulations-by-voice.db.test.ts',
    'service/test/simulations-kept.db.test.ts',
    'service/test/simulations.db.test.ts',
    'service/test/sweeps.db.test.ts',
    'service/test/taken-over-call.db.test.ts',
    'service/test/task-dispatch.db.test.ts',
    'service/test/who-answered.db.test.ts',
  ],
}

/** Options that name a part of the tests, with what follows them or behind a `=`. */
const NAMES_PART = /^(?:--full|--project|-t|--testNamePattern|--changed|--related)(?:=|$)/

/** Whether a run of the tests with these arguments is the one that every change must pass: of all files, but not of everything in them. */
export function isOfEveryChange(args: readonly string[]): boolean {
  return args.every((argument) => argument.startsWith('-') && !NAMES_PART.test(argument))
}
