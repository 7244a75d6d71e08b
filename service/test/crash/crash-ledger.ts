import { TurnLedger } from '../kill/turn-ledger.ts'

/** What clients were told by the service, kept where no kill reaches it. */
export class CrashLedger {
  /** The tenant's name is its number: that which was tried last, and that which was acknowledged last. */
  readonly names = { tried: 0, acknowledged: 0 }
  /** The agent's rollout is that of its number; the same two. */
  readonly rollouts = { tried: 0, acknowledged: 0 }
  /** Tokens of keys whose revocation was acknowledged. */
  readonly revoked: string[] = []
  /** Calls that were told to open a stream, and did. */
  readonly streams = new Set<string>()
  readonly turns = new TurnLedger()
  /** What was said and stood in the journal's files at the kill, by the call. */
  readonly kept: { callSid: string; role: string; text: string }[] = []
  /** Numbers that were put on the do-not-call list, and that was acknowledged. */
  readonly blocked: string[] = []
  /** Why the last call that was asked for was not placed, as the answer says; null when it was. */
  refusal: string | null = null
  /** Calls that were asked for, by their Idempotency-Key; the call's id once it was told. */
  readonly dials = new Map<string, { to: string; callSid: string | null }>()

  /** How much was told that must be there afterwards. */
  get told(): number {
    const dialled = [...this.dials.values()].filter(({ callSid }) => callSid !== null).length
    const named = [this.names, this.rollouts].filter(({ acknowledged }) => acknowledged > 0).length
    const said = this.turns.count + this.kept.length
    return named + this.revoked.length + this.blocked.length + this.streams.size + said + dialled
  }

  /** Whether the stored name may be there: nothing older than what was acknowledged, nothing that nobody wrote. */
  isNamePossible(name: number): boolean {
    return name >= this.names.acknowledged && name <= this.names.tried
  }
}

/** The forms with which the carrier was asked to dial, by the number; each number is wanted once. */
export function doubledDials(asked: readonly { method: string; path: string; body: string }[]): string[] {
  const numbers = asked
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/Calls.json'))
    .map(({ body }) => new URLSearchParams(body).get('To') ?? '')
  return numbers.filter((number, index) => numbers.indexOf(number) !== index)
}
