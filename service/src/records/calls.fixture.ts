import { eventFaults } from '../event-checks.fixture.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { NO_ACCOUNT } from '../tenancy/no-account.fixture.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { EVENT_NAMES, type EventName } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { JournaledTurn } from './journal-entry.ts'
import type { NewCall } from './sessions.ts'

/** The nodes of a test's installation. */
export const NODE = '0190b000-0000-7000-8000-000000000001' as NodeId
export const OTHER_NODE = '0190b000-0000-7000-8000-000000000002' as NodeId

/** A tenant that wants to be told of these events; of every one if they are not given, and of none if they are null. */
export function tenantTold(id: string, events: readonly EventName[] | null = EVENT_NAMES): TenantRuntime {
  const webhook = events && { url: 'https://hooks.example.com/parley', events: [...events] }
  return toRuntime({ tenant_id: id as TenantId, org_id: 'org-1', webhook }, NO_ACCOUNT)
}

/** A call that rings; what is not given is the same for all. */
export function someCall(callSid: string, facts: Partial<NewCall> = {}): NewCall {
  return {
    callSid,
    direction: 'inbound',
    from: '+12025550101',
    to: '+12025550199',
    orgId: null,
    agent: { agentKey: 'support', agentName: 'Robin', versionId: null, versionNumber: 3 },
    metadata: {},
    ...facts,
  }
}

/** What the `seq`-th turn of a conversation says, two seconds each. */
export function someTurn(seq: number, facts: Partial<JournaledTurn> = {}): JournaledTurn {
  return {
    itemId: `item_${seq}`,
    seq,
    role: seq % 2 === 0 ? 'caller' : 'agent',
    text: `Sentence ${seq}.`,
    unheard: '',
    startMs: seq * 2_000,
    endMs: seq * 2_000 + 1_500,
    interrupted: false,
    sentMs: null,
    heardMs: null,
    ...facts,
  }
}

type StoredEvent = { event: string; call_sid: string | null; sequence: number | null; body: Record<string, unknown> }

/** What tenants are to be told, in the order of each call. @throws Error for what is told otherwise than the catalogue says. */
export async function storedEvents(db: Db): Promise<StoredEvent[]> {
  const events = await outboxOf(db)
  const faults = events.flatMap(({ body }) => eventFaults(body))
  if (faults.length > 0) throw new Error(`events are not as documented: ${faults.join('; ')}`)
  return events
}

/** The same, whatever stands in them. */
export async function outboxOf(db: Db): Promise<StoredEvent[]> {
  return db
    .selectFrom('webhook_outbox')
    .select(['event', 'call_sid', 'sequence', 'body'])
    .orderBy('call_sid')
    .orderBy('sequence')
    .orderBy('id')
    .execute()
}
