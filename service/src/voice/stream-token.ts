import { createHmac } from 'node:crypto'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Cancel, Clock } from '../kernel/clock.ts'
import { type AgentVersionId, secretText, type TenantId } from '../kernel/ids.ts'
import { secretsEqual } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { CALL_DIRECTIONS } from '../records/call-values.ts'
import { LineClaims, type LineGrant, type LineTokenClaims } from './lines/line-token.ts'
import { TRANSFER_FAULTS } from './session/not-through.ts'
import { forgetTokens, spendToken } from './stream-token-store.ts'
import { TransferClaims, type TransferGrant } from './transfer/transfer-token.ts'

/** `{"alg":"HS256"}`: the only header there is, so none is ever interpreted. */
const HEADER = Buffer.from('{"alg":"HS256"}').toString('base64url')

const JTI_BYTES = 16
/** Longer than any token of ours: nothing longer is looked at. */
const MAX_TOKEN_CHARS = 2_000
const SWEEP_INTERVAL_MS = 60_000
/** Four hours, and the time in which it rings. */
const LONGEST_CALL_MS = 15_000_000
/** How far the clocks of two nodes may be apart: as long after its end the token of another node is taken yet. */
const CLOCK_SKEW_MS = 300_000
/** A node whose clock is behind must not take a token that another one has forgotten already, nor by that leeway. */
const REMEMBERED_MS = 2 * CLOCK_SKEW_MS
const OWN_MARK_BYTES = 3

/** What a token says; the claims of RFC 7519 under their short names. */
const Claims = Type.Object({
  tenant: Type.Unsafe<TenantId>(Type.String({ minLength: 1 })),
  call_sid: Type.String({ minLength: 1 }),
  agent_version_id: Type.Union([Type.Unsafe<AgentVersionId>(Type.String({ minLength: 1 })), Type.Null()]),
  direction: Type.Enum(CALL_DIRECTIONS),
  epoch: Type.Integer({ minimum: 1 }),
  /** Why nobody took the call that the stream brings back: whichever node lets it in is to know. */
  why: Type.Optional(Type.Enum(TRANSFER_FAULTS)),
  /** Seconds since the epoch. */
  exp: Type.Integer({ minimum: 0 }),
  jti: Type.String({ minLength: 1 }),
})

/** A token that is ours and has not ended; whether it was used is not known yet. */
export type StreamClaims = Static<typeof Claims>

/** What a stream is let in for. A null version: the tenant document's own agent. */
export type StreamGrant = Omit<StreamClaims, 'exp' | 'jti'>

/** The keys to the audio of a call: signed, short-lived, good for one stream on one node. */
export type StreamTokens = {
  /** A token for one stream of this call, good from now on for as long as STREAM_TOKEN_TTL_SECONDS. */
  issue(grant: StreamGrant): string
  /** What the token says; null when it is not ours, not for a call's stream, or has ended: five minutes ago, if another node gave it. */
  read(token: string): StreamClaims | null
  /** The same for a person's line into a call. */
  issueLine(grant: LineGrant): string
  readLine(token: string): LineTokenClaims | null
  /** The same for the addresses of a transfer: good for as long as a call may last, and as often as its carrier asks. */
  issueTransfer(grant: TransferGrant): string
  readTransfer(token: string): TransferGrant | null
  /**
   * Uses the token up: of any number of callers, on any node, exactly one is told true.
   *
   * @throws AppError `unavailable` when the database cannot be asked.
   */
  spend(claims: Pick<StreamClaims, 'jti' | 'exp'>): Promise<boolean>
  /** Forgets old tokens from now on, again and again. */
  start(): void
  /** Stops to forget old tokens; waits for a sweep on its way. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  /** The first signs; each of them verifies. At least one. */
  secrets: readonly [string, ...string[]]
  ttlMs: number
}

export function makeStreamTokens({ db, clock, log, secrets, ttlMs }: Deps): StreamTokens {
  /** How the ids of this process's tokens begin: of those it knows the clock. */
  const ownMark = secretText(OWN_MARK_BYTES)
  let sweeping: Promise<void> = Promise.resolve()
  const sweep = async () => {
    const before = new Date(clock.now() - REMEMBERED_MS)
    await forgetTokens(db, before).catch((err: unknown) => log.warn({ err }, 'spent stream tokens were not swept'))
  }
  let stop: Cancel = () => undefined

  function issue(grant: StreamGrant | LineGrant | TransferGrant, goodForMs = ttlMs): string {
    const exp = Math.ceil((clock.now() + goodForMs) / 1000)
    const claims = { ...grant, exp, jti: ownMark + secretText(JTI_BYTES) }
    const text = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    return `${text}.${sign(secrets[0], text)}`
  }

  function read<Schema extends TSchema>(schema: Schema, token: string): Static<Schema> | null {
    const claims = claimsOf(token, secrets)
    if (!Value.Check(schema, claims)) return null
    const { exp, jti } = claims as { exp: number; jti?: string }
    const leewayMs = jti?.startsWith(ownMark) ? 0 : CLOCK_SKEW_MS
    return exp * 1000 + leewayMs > clock.now() ? claims : null
  }

  return {
    issue: (grant) => issue(grant),
    read: (token) => read(Claims, token),
    issueLine: (grant) => issue(grant),
    readLine: (token) => read(LineClaims, token),
    issueTransfer: (grant) => issue(grant, LONGEST_CALL_MS),
    readTransfer: (token) => read(TransferClaims, token),
    spend: ({ jti, exp }) => spendToken(db, { jti, expiresAt: new Date(exp * 1000) }),
    start() {
      stop = clock.every(SWEEP_INTERVAL_MS, () => {
        sweeping = sweep()
      })
    },
    async close() {
      stop()
      await sweeping
    },
  }
}

function claimsOf(token: string, secrets: readonly string[]): unknown {
  if (token.length > MAX_TOKEN_CHARS) return null
  const [header, payload = '', signature = '', ...rest] = token.split('.')
  if (header !== HEADER || rest.length > 0) return null
  // Compared as text: another spelling of the same bytes is not the token that we gave.
  const isOurs = secrets.filter((secret) => secretsEqual(sign(secret, `${header}.${payload}`), signature)).length > 0
  return isOurs ? parsed(payload) : null
}

function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

/** Null for what another release signed and this one cannot read. */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString())
  } catch {
    return null
  }
}
