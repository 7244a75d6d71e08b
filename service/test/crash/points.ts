import type { Moment } from './moments.ts'

/** What a client does until the kill. */
export type Workload = 'talk' | 'dial' | 'admin' | 'start'

/** A moment at which the process is killed. */
export type CrashPoint = { name: string; does: Workload; is(moment: Moment): boolean }

/** A moment that cannot come yet, because the part that has it is not there. */
export type MissingPoint = { name: string; part: string }

type When = Moment['when']

/** The end of a transaction that asked all of these; a statement outside of one is its own. */
function commit(when: When, ...asked: RegExp[]): CrashPoint['is'] {
  return (moment) => {
    if (moment.where !== 'database' || moment.when !== when) return false
    const { statement, transaction } = moment
    const statements = transaction.length === 0 ? [statement] : transaction
    const isEnd = transaction.length === 0 || /^commit/i.test(statement)
    return isEnd && asked.every((each) => statements.some((text) => each.test(text)))
  }
}

function statement(when: When, asked: RegExp): CrashPoint['is'] {
  return (moment) => moment.where === 'database' && moment.when === when && asked.test(moment.statement)
}

function request(where: 'carrier' | 'client', when: When, path: RegExp): CrashPoint['is'] {
  return (moment) =>
    moment.where === where && moment.when === when && moment.method === 'POST' && path.test(moment.path)
}

const INTENT = /^insert into "dials"/
const CALL_ENTERED = /^insert into "call_directory"/
const DIAL_SETTLED = /^update "dials"/
const TOKEN_SPENT = /^insert into "spent_stream_tokens"/
const OWNER = /^update "call_directory" set .*"owner"/
const TURNS = /^insert into "transcript_turns"/
const TOOLS = /^insert into "function_calls"/
const SESSION = /^update "voice_sessions" set .*"end_reason"/
const TENANT = /^(insert into|update) "tenants"/
const REVOKED = /^update "api_keys" set .*"revoked_at"/
const MIGRATION = /^insert into "schema_migrations"/
const CREATE_CALL = /\/Calls\.json$/
const MAKE_CALL = /\/make-call$/

/** Every named moment that there is. */
export const POINTS: readonly CrashPoint[] = [
  { name: 'make-call-validated', does: 'dial', is: statement('before', INTENT) },
  { name: 'intent-committed', does: 'dial', is: commit('after', INTENT) },
  { name: 'before-dial', does: 'dial', is: request('carrier', 'before', CREATE_CALL) },
  { name: 'after-dial', does: 'dial', is: request('carrier', 'after', CREATE_CALL) },
  { name: 'before-call-sid-commit', does: 'dial', is: commit('before', CALL_ENTERED, DIAL_SETTLED) },
  { name: 'after-call-sid-commit', does: 'dial', is: commit('after', CALL_ENTERED, DIAL_SETTLED) },
  { name: 'before-2xx', does: 'dial', is: request('client', 'after', MAKE_CALL) },
  { name: 'after-2xx', does: 'dial', is: ({ where, when }) => where === 'client' && when === 'told' },
  { name: 'token-issued', does: 'talk', is: statement('before', TOKEN_SPENT) },
  { name: 'token-spent', does: 'talk', is: statement('after', TOKEN_SPENT) },
  { name: 'before-start-commit', does: 'talk', is: commit('before', OWNER) },
  { name: 'after-start-commit', does: 'talk', is: commit('after', OWNER) },
  { name: 'turn-buffered', does: 'talk', is: statement('before', TURNS) },
  { name: 'before-turn-commit', does: 'talk', is: commit('before', TURNS) },
  { name: 'after-turn-commit', does: 'talk', is: commit('after', TURNS) },
  { name: 'before-tool-commit', does: 'talk', is: commit('before', TOOLS) },
  { name: 'after-tool-commit', does: 'talk', is: commit('after', TOOLS) },
  { name: 'before-end-commit', does: 'talk', is: commit('before', SESSION) },
  { name: 'after-end-commit', does: 'talk', is: commit('after', SESSION) },
  { name: 'before-tenant-put-commit', does: 'admin', is: commit('before', TENANT) },
  { name: 'after-tenant-put-commit', does: 'admin', is: commit('after', TENANT) },
  { name: 'before-key-revoke-commit', does: 'admin', is: commit('before', REVOKED) },
  { name: 'after-key-revoke-commit', does: 'admin', is: commit('after', REVOKED) },
  { name: 'before-migration-commit', does: 'start', is: commit('before', MIGRATION) },
  { name: 'after-migration-commit', does: 'start', is: commit('after', MIGRATION) },
]

/** Told with the result, so that nobody takes them for done. */
export const MISSING_POINTS: readonly MissingPoint[] = [
  { name: 'outbox-claim', part: 'delivery of the outbox' },
  { name: 'before-http-delivery', part: 'delivery of the outbox' },
  { name: 'after-http-delivery', part: 'delivery of the outbox' },
  { name: 'before-mark-delivered', part: 'delivery of the outbox' },
  { name: 'after-mark-delivered', part: 'delivery of the outbox' },
  { name: 'sweep-claim', part: 'the sweeps' },
  { name: 'rollout-put', part: 'rollouts' },
  { name: 'journal-write', part: 'the journal on disk' },
  { name: 'journal-rotate', part: 'the journal on disk' },
  { name: 'journal-replay', part: 'the journal on disk' },
]
