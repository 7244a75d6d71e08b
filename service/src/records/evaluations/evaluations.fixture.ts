import type { TestClock } from '../../../test/harness/clock.ts'
import type { AgentId, NodeId } from '../../kernel/ids.ts'
import type { ChatModel } from '../../platform/chat/port.ts'
import type { Db } from '../../platform/db/schema.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { statusReport, withReport, withSessionEnd } from '../call-record.ts'
import { lockRecord } from '../call-store.ts'
import type { SessionEndReason, SessionId } from '../call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from '../calls.fixture.ts'
import { changeCall } from '../change-call.ts'
import { type JournaledTurn, turnEntry } from '../journal-entry.ts'
import { writeEntries } from '../journal-write.ts'
import { makeSessions, type NewCall } from '../sessions.ts'
import type { FindJudged } from './conversation.ts'

/** The agent of every call of these tests. */
export const AGENT_ID = '0190c000-0000-7000-8000-000000000001' as AgentId

/** Calls are scored by what the agent's version says: here by the usual criteria. */
export const findJudged: FindJudged = async () => {
  return { agentId: AGENT_ID, criteria: agentConfigDefaults({}).criteria, extraction: null, chatModel: null }
}

/** An answer of a chat model that scores the usual criteria. */
export function assessmentOf(helpfulness: number, accuracy = helpfulness, tone = helpfulness): string {
  const criteria = Object.entries({ helpfulness, accuracy, tone }).map(([name, score]) => {
    return { name, score, reason: `It was ${score}.` }
  })
  return JSON.stringify({ criteria, summary: 'They talked.' })
}

/** A model of which it is known whether somebody waits for its answer: until then no time should pass that a test moves far at once. */
export function watchedModel(model: ChatModel): ChatModel & { readonly isAsked: boolean } {
  let questions = 0
  return {
    get isAsked() {
      return questions > 0
    },
    async complete(request) {
      questions += 1
      return model.complete(request).finally(() => {
        questions -= 1
      })
    },
  }
}

const PROGRESS = {
  latency: { greetingMs: 400, responseP50Ms: 500, responseP95Ms: 700, interruptions: 0 },
  usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 },
}

type Told = {
  tenant?: TenantRuntime
  turns?: JournaledTurn[]
  facts?: Partial<NewCall>
  endReason?: SessionEndReason
  /** Whether anybody answered. */
  isAnswered?: boolean
  /** Who or what did, as the carrier has it. */
  answeredBy?: string
  hasEnded?: boolean
  /** 20 s if not given. */
  lastsMs?: number
  nodeId?: NodeId
  /** Whether the agent's version wants something taken from it. */
  wantsExtraction?: boolean
}

/** A call in which an agent greets and a caller asks, and which has ended. */
export async function endedCall(db: Db, clock: TestClock, callSid: string, told: Told = {}): Promise<SessionId> {
  const {
    tenant = tenantTold('acme'),
    turns = [someTurn(1), someTurn(2)],
    facts = {},
    isAnswered = true,
    wantsExtraction = false,
  } = told
  const sessions = makeSessions({ db, clock, nodeId: told.nodeId ?? NODE })
  const { sessionId } = await sessions.open(tenant, someCall(callSid, facts))
  const stream = { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null, wantsExtraction }
  if (isAnswered) await sessions.started(tenant, stream)
  await clock.advance(told.lastsMs ?? 20_000)
  const call = { tenant, callSid, sessionId, epoch: 1 }
  const now = new Date(clock.now())
  const entries = turns.map((turn) => turnEntry(call, turn))
  if (isAnswered && entries.length > 0) await db.transaction().execute((tx) => writeEntries(tx, entries, { now }))
  const { hasEnded = true, endReason = 'caller_hangup', answeredBy = null } = told
  if (hasEnded) await end(db, tenant, { callSid, endReason, answeredBy, now })
  return sessionId
}

type End = { callSid: string; endReason: SessionEndReason; answeredBy: string | null; now: Date }

async function end(db: Db, tenant: TenantRuntime, { callSid, endReason, answeredBy, now }: End): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked) throw new Error(`there is no call ${callSid}`)
    await changeCall(tx, tenant, {
      ...{ ...locked, now },
      change: (record) => {
        const reported = withReport(record, { ...statusReport('completed', now), answeredBy })
        return withSessionEnd(reported, { ...PROGRESS, endReason, at: now })
      },
    })
  })
}
