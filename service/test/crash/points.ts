import { commit, request, statement } from './matches.ts'
import type { Moment } from './moments.ts'

/** What clients do. */
export type Workload = 'talk' | 'dial' | 'admin' | 'block'

/** How it comes to the moment: at once, or after something else has happened (`ways.ts`). */
export type Way = 'at-once' | 'rescue' | 'settle' | 'journal-write' | 'journal-settle' | 'journal-replay' | 'hand-over'

/** A moment at which the process is killed. `does: start`: a start on a new database. */
export type CrashPoint = {
  name: string
  does: Workload | 'start'
  way: Way
  is(moment: Moment): boolean
  /** How often it comes in a round at most, where a later time costs too much. */
  timesMax?: number
  /** What callers order, where it comes sooner with that. */
  talk?: { orders: number; skipped?: number }
  isRecorded?: boolean
}

/** A moment that cannot come yet, because the part that has it is not there. */
export type MissingPoint = { name: string; part: string }

type Is = CrashPoint['is']
type Rest = Omit<CrashPoint, 'name' | 'is' | 'way' | 'does'> & { way?: Way }

function of(does: CrashPoint['does'], name: string, is: Is, rest: Rest = {}): CrashPoint {
  return { way: 'at-once', ...rest, does, name, is }
}

const INTENT = /^insert into "dials"/
const CALL_ENTERED = /^insert into "call_directory"/
const DIAL_SETTLED = /^update "dials" set .*"state"/
const TOKEN_SPENT = /^insert into "spent_stream_tokens"/
const OWNER = /^update "call_directory" set .*"owner"/
const TURNS = /^insert into "transcript_turns"/
const TOOLS = /^insert into "function_calls"/
const SESSION = /^update "voice_sessions" set .*"end_reason"/
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

const TOOL_SOON = { talk: { orders: 2, skipped: 1 }, timesMax: 2 }
const END_SOON = { talk: { orders: 1 }, timesMax: 2 }
const ONCE = { timesMax: 1 }
const RECORDED_CALLS = { isRecorded: true, timesMax: 2 }

/** Every named moment that there is. */
export const POINTS: readonly CrashPoint[] = [
  of('dial', 'make-call-validated', statement('before', INTENT)),
  of('dial', 'before-intent-commit', commit('before', INTENT)),
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
  of('dial', 'before-doubt-settled', commit('before', DIAL_SETTLED), { way: 'settle', ...ONCE }),
  of('dial', 'after-doubt-settled', commit('after', DIAL_SETTLED), { way: 'settle', ...ONCE }),
  of('talk', 'token-issued', statement('before', TOKEN_SPENT)),
  of('talk', 'token-spent', statement('after', TOKEN_SPENT)),
  of('talk', 'before-start-commit', commit('before', OWNER)),
  of('talk', 'after-start-commit', commit('after', OWNER)),
  of('talk', 'turn-buffered', statement('before', TURNS)),
  of('talk', 'before-turn-commit', commit('before', TURNS)),
  of('talk', 'after-turn-commit', commit('after', TURNS)),
  of('talk', 'before-tool-commit', commit('before', TOOLS), TOOL_SOON),
  of('talk', 'after-tool-commit', commit('after', TOOLS), TOOL_SOON),
  of('talk', 'before-end-commit', commit('before', SESSION), END_SOON),
  of('talk', 'after-end-commit', commit('after', SESSION), END_SOON),
  of('talk', 'heartbeat', statement('after', HEARTBEAT)),
  of('talk', 'sweep-claim', statement('after', DUE_TAKEN)),
  of('talk', 'orphans-claimed', statement('after', ORPHANS_TAKEN), { way: 'rescue', ...ONCE }),
  of('talk', 'before-call-back', request('carrier', 'before', CHANGE_CALL), { way: 'rescue', ...ONCE }),
  of('talk', 'after-call-back', request('carrier', 'after', CHANGE_CALL), { way: 'rescue', ...ONCE }),
  of('talk', 'call-back-noted', statement('after', RESCUED), { way: 'rescue', ...ONCE }),
  of('talk', 'before-resume-commit', commit('before', RESUME), { way: 'rescue', ...ONCE }),
  of('talk', 'after-resume-commit', commit('after', RESUME), { way: 'rescue', ...ONCE }),
  of('talk', 'call-released', statement('after', RELEASED), { way: 'hand-over', ...ONCE }),
  of('talk', 'call-handed-over', request('carrier', 'after', CHANGE_CALL), { way: 'hand-over', ...ONCE }),
  of('talk', 'before-recording-commit', commit('before', RECORDING), RECORDED_CALLS),
  of('talk', 'after-recording-commit', commit('after', RECORDING), RECORDED_CALLS),
  of('talk', 'before-recording-end', commit('before', RECORDED), { ...RECORDED_CALLS, ...END_SOON }),
  of('talk', 'after-recording-end', commit('after', RECORDED), { ...RECORDED_CALLS, ...END_SOON }),
  of('talk', 'journal-write', () => false, { way: 'journal-write', ...ONCE }),
  of('talk', 'journal-settle', commit('after', TURNS), { way: 'journal-settle', ...ONCE }),
  of('talk', 'journal-replay', commit('after', TURNS), { way: 'journal-replay', ...ONCE }),
  of('admin', 'before-tenant-put-commit', commit('before', TENANT)),
  of('admin', 'after-tenant-put-commit', commit('after', TENANT)),
  of('admin', 'before-key-revoke-commit', commit('before', REVOKED)),
  of('admin', 'after-key-revoke-commit', commit('after', REVOKED)),
  of('block', 'before-dnc-commit', commit('before', BLOCKED)),
  of('block', 'after-dnc-commit', commit('after', BLOCKED)),
  of('block', 'before-dnc-2xx', request('client', 'after', DNC)),
  of('start', 'before-migration-commit', commit('before', MIGRATION)),
  of('start', 'after-migration-commit', commit('after', MIGRATION)),
]

/** Told with the result, so that nobody takes them for done. */
export const MISSING_POINTS: readonly MissingPoint[] = [
  { name: 'outbox-claim', part: 'delivery of the outbox' },
  { name: 'before-http-delivery', part: 'delivery of the outbox' },
  { name: 'after-http-delivery', part: 'delivery of the outbox' },
  { name: 'before-mark-delivered', part: 'delivery of the outbox' },
  { name: 'after-mark-delivered', part: 'delivery of the outbox' },
  { name: 'rollout-put', part: 'rollouts' },
  { name: 'journal-rotate', part: 'a round that fills 8 MiB of the journal' },
]
