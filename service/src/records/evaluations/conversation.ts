import type { AgentId, TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isReached } from '../answered-by.ts'
import { findCallLog } from '../call-log-store.ts'
import { whyNotBegun } from '../call-record.ts'
import type { SessionId } from '../call-values.ts'
import { type FunctionCallRow, listFunctionCalls, listTurns, type TurnRow } from '../transcript-store.ts'
import { findVoiceSession, type VoiceSessionRow } from '../voice-session-store.ts'

/**
 * A conversation with all that was said and done in it, and who or what answered, as its call log has it. `whyNotBegun`: why nobody
 * talked with the agent, in a sentence; null where somebody may have.
 */
export type Conversation = {
  session: VoiceSessionRow
  turns: TurnRow[]
  calls: FunctionCallRow[]
  answeredBy: string | null
  whyNotBegun: string | null
}

/** As much of a conversation as whoever is to read it has to be shown. */
export type ReadableConversation = {
  session: Pick<VoiceSessionRow, 'agent_name' | 'direction' | 'duration_seconds' | 'end_reason'>
  turns: Pick<TurnRow, 'role' | 'text' | 'interrupted'>[]
  calls: Pick<FunctionCallRow, 'name' | 'status'>[]
}

/** What a conversation is scored by. `weight`: its share in the score. */
export type Criterion = { name: string; description: string; weight: number }

/**
 * Who spoke in a session, what its calls are to be scored by, and what is to be taken from them: `extraction` is a JSON Schema of
 * an object, null for nothing. `chatModel`: null for the driver's own default.
 */
export type JudgedAgent = {
  agentId: AgentId | null
  criteria: Criterion[]
  extraction: Record<string, unknown> | null
  chatModel: string | null
}

/** Finds them. Of an agent that cannot be found any more the tenant's own is told, or what there is without one. */
export type FindJudged = (tenant: TenantRuntime, session: VoiceSessionRow) => Promise<JudgedAgent>

/** Null when the tenant has no such session. */
export async function readConversation(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<Conversation | null> {
  const session = await findVoiceSession(db, tenantId, sessionId)
  if (!session) return null
  const turns = await listTurns(db, tenantId, sessionId)
  const calls = await listFunctionCalls(db, tenantId, sessionId)
  const log = await findCallLog(db, tenantId, session.call_sid)
  const hasBegun = session.started_at !== null
  const whyNone = hasBegun ? null : whyNotBegun(log ?? { status: session.call_status, answered_at: null })
  return { session, turns, calls, answeredBy: log?.answered_by ?? null, whyNotBegun: whyNone }
}

/** Why a model scores none of an agent's calls. */
export const NO_CRITERIA = 'The agent names no criteria to be scored by.'

/** Why there is nothing that a model could score, in a sentence; null when there is. */
export function whyUnscorable({ session, turns, answeredBy, whyNotBegun: whyNone }: Conversation): string | null {
  if (whyNone !== null) return whyNone
  // What a mailbox says is written down as a caller's words, and no agent can do well by it.
  if (session.end_reason === 'voicemail' || !isReached(answeredBy)) return 'A machine answered it, and nobody else.'
  if (turns.length === 0) return 'Nothing was said in it.'
  return whyUnheard(turns)
}

/** Why nobody can read what the caller said, in a sentence; null when it can be read. */
export function whyUnheard(turns: { role: string; text: string }[]): string | null {
  const said = turns.filter(({ role }) => role === 'caller')
  if (said.length === 0) return 'The caller said nothing.'
  return said.every(({ text }) => text.trim() === '') ? 'What the caller said was not written down.' : null
}
