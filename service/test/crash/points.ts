import { commit, delivery, request, statement, taking } from './matches.ts'
import type { Moment } from './moments.ts'

/** What clients do. */
export type Workload = 'talk' | 'dial' | 'admin' | 'rollout' | 'block'

/** How it comes to the moment: at once, or after something else has happened (`ways.ts`). */
export type Way =
  | ('at-once' | 'rescue' | 'settle' | 'hand-over')
  | ('journal-write' | 'journal-rotate' | 'journal-settle' | 'journal-replay')

/**
 * A moment at which the process is killed. `does: start`: a start on a new database. `share`: of the rounds that a moment has; one
 * half each for the two sides of a commit that are one matter, a tenth for what stands beside the ways on which data can be lost.
 */
export type CrashPoint = {
  name: string
  share: number
  does: Workload | 'start'
  way: Way
  is(moment: Moment): boolean
  /** How often it comes in a round at most, where a later time costs too much. */
  timesMax?: number
  /** What callers order, where it comes sooner with that. */
  talk?: { orders: number; skipped?: number }
  isRecorded?: boolean
  /** The service runs with these beside its own. */
  settings?: Record<string, string>
}

type Is = CrashPoint['is']
type Rest = Partial<Omit<CrashPoint, 'name' | 'is' | 'does'>>

function of(does: CrashPoint['does'], name: string, is: Is, rest: Rest = {}): CrashPoint {
  return { way: 'at-once', share: 1, ...rest, does, name, is }
}

const INTENT = /^insert into "dials"/
const CALL_ENTERED = /^insert into "call_directory"/
const DIAL_SETTLED = /^update "dials" set .*"state"/
const TOKEN_SPENT = /^insert into "spent_stream_tokens"/
const OWNER = /^update "call_directory" set .*"owner"/
const TURNS = /^\s*insert into "?transcript_turns\b/
const TOOLS = /^insert into "function_calls"/
const SESSION = /\bupdate "voice_sessions" set [^=]*"end_reason"/
const TENANT = /^(insert into|update) "tenants"/
const REVOKED = /^update "api_keys" set .*"revoked_at"/
const BLOCKED = /^insert into "do_not_call"|^\s*insert into do_not_call/
const MIGRATION = /^insert into "schema_migrations"/
const HEARTBEAT = /^insert into "nodes"/
const ORPHANS_TAKEN = /^\s*with orphans as/
const DUE_TAKEN = /^\s*with due as/
const RESUME = /^insert into "call_resumes"/
const RESCUED = /^update "call_directory" set "rescue_at" = \$1/
const RELEASED = /^update "call_directory" set "owner" = \$1, "epoch"/
const RECORDING = /^insert into "recordings"/
const RECORDED = /^update "recordings"/
const CREATE_CALL = /\/Calls\.json$/
const CHANGE_CALL = /\/Calls\/[^/]+\.json$/
const MAKE_CALL = /\/make-call$/
const DNC = /\/dnc$/
const CLAIMED = /^\s*with picked as materialized.*"webhook_outbox"/s
const SETTLED = /^\s*update "webhook_outbox"\s+set status/
const ROLLOUT_GONE = /^delete from "agent_version_rollouts"/

const TOOL_SOON = { talk: { orders: 2, skipped: 1 }, timesMax: 2 }
const END_SOON = { talk: { orders: 1 }, timesMax: 2 }
const ONCE = { timesMax: 1 }
const HALF = { share: 1 / 2 }
const BESIDE = { share: 1 / 10 }
const RESCUE = { way: 'rescue', ...ONCE, ...BESIDE } as const
const RECORDED_CALLS = { isRecorded: true, timesMax: 2, ...BESIDE }
/** So that a file is full soon. */
const SMALL_SEGMENTS = { NODE_OPTIONS: `--import=${new URL('./small-segments.ts', import.meta.url).href}` }

/** Every named moment that there is. */
export const POINTS: readonly CrashPoint[] = [
  of('dial', 'make-call-validated', statement('before', INTENT)),
  of('dial', 'before-intent-commit', commit('before', INTENT), BESIDE),
  of('dial', 'intent-committed', commit('after', INTENT)),
  of('dial', 'before-dial', request('carrier', 'before', CREATE_CALL)),
  of('dial', 'after-dial', request('carrier', 'after', CREATE_CALL)),
  of('dial', 'before-call-sid-commit', commit('before', CALL_ENTERED, DIAL_SETTLED)),
  of('dial', 'after-call-sid-commit', commit('after', CALL_ENTERED, DIAL_SETTLED)),
  of('dial', 'before-2xx', request('client', 'after', MAKE_CALL)),
  of(
    'dial',
    'after-2xx',
    ({ where, when, ...rest }) => where === 'client' && when === 'told' && 'path' in rest && MAKE_CALL.test(rest.path),
  ),
  of('dial', 'before-doubt-settled', commit('before', DIAL_SETTLED), { way: 'settle', ...ONCE, ...BESIDE }),
  of('dial', 'after-doubt-settled', commit('after', DIAL_SETTLED), { way: 'settle', ...ONCE, ...BESIDE }),
  of('talk', 'token-issued', statement('before', TOKEN_SPENT)),
  of('talk', 'token-spent', statement('after', TOKEN_SPENT)),
  of('talk', 'before-start-commit', commit('before', OWNER), HALF),
  of('talk', 'after-start-commit', commit('after', OWNER), HALF),
  of('talk', 'turn-buffered', statement('before', TURNS)),
  of('talk', 'before-turn-commit', commit('before', TURNS)),
  of('talk', 'after-turn-commit', commit('after', TURNS)),
  of('talk', 'before-tool-commit', commit('before', TOOLS), TOOL_SOON),
  of('talk', 'after-tool-commit', commit('after', TOOLS), TOOL_SOON),
  of('talk', 'before-end-commit', commit('before', SESSION), { ...END_SOON, ...HALF }),
  of('talk', 'after-end-commit', commit('after', SESSION), { ...END_SOON, ...HALF }),
  of('talk', 'heartbeat', statement('after', HEARTBEAT), BESIDE),
  of('talk', 'sweep-claim', statement('after', DUE_TAKEN)),
  of('talk', 'orphans-claimed', statement('after', ORPHANS_TAKEN), RESCUE),
  of('talk', 'before-call-back', request('carrier', 'before', CHANGE_CALL), RESCUE),
  of('talk', 'after-call-back', request('carrier', 'after', CHANGE_CALL), RESCUE),
  of('talk', 'call-back-noted', statement('after', RESCUED), RESCUE),
  of('talk', 'before-resume-commit', commit('before', RESUME), RESCUE),
  of('talk', 'after-resume-commit', commit('after', RESUME), RESCUE),
  of('talk', 'call-released', statement('after', RELEASED), { way: 'hand-over', ...ONCE, ...BESIDE }),
  of('talk', 'call-handed-over', request('carrier', 'after', CHANGE_CALL), { way: 'hand-over', ...ONCE, ...BESIDE }),
  of('talk', 'before-recording-commit', commit('before', RECORDING), RECORDED_CALLS),
  of('talk', 'after-recording-commit', commit('after', RECORDING), RECORDED_CALLS),
  of('talk', 'before-recording-end', commit('before', RECORDED), { ...END_SOON, ...RECORDED_CALLS }),
  of('talk', 'after-recording-end', commit('after', RECORDED), { ...END_SOON, ...RECORDED_CALLS }),
  of('talk', 'journal-write', () => false, { way: 'journal-write', ...ONCE }),
  of('talk', 'journal-rotate', () => false, { way: 'journal-rotate', settings: SMALL_SEGMENTS }),
  of('talk', 'journal-settle', commit('after', TURNS), { way: 'journal-settle', ...ONCE, ...BESIDE }),
  of('talk', 'journal-replay', commit('after', TURNS), { way: 'journal-replay', ...ONCE }),
  of('admin', 'before-tenant-put-commit', commit('before', TENANT), HALF),
  of('admin', 'after-tenant-put-commit', commit('after', TENANT), HALF),
  of('admin', 'before-key-revoke-commit', commit('before', REVOKED), HALF),
  of('admin', 'after-key-revoke-commit', commit('after', REVOKED), HALF),
  of('block', 'before-dnc-commit', commit('before', BLOCKED), BESIDE),
  of('block', 'after-dnc-commit', commit('after', BLOCKED), BESIDE),
  of('block', 'before-dnc-2xx', request('client', 'after', DNC), BESIDE),
  of('block', 'outbox-claim', taking(CLAIMED)),
  of('block', 'before-http-delivery', delivery('before')),
  of('block', 'after-http-delivery', delivery('after')),
  of('block', 'before-mark-delivered', commit('before', SETTLED)),
  of('block', 'after-mark-delivered', commit('after', SETTLED)),
  of('rollout', 'rollout-put', taking(ROLLOUT_GONE)),
  of('start', 'before-migration-commit', commit('before', MIGRATION), HALF),
  of('start', 'after-migration-commit', commit('after', MIGRATION), HALF),
]
