import type { Deps } from './deps.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { findOwner, listOwners } from './records/call-owner-store.ts'
import { answerRemoteCalls } from './voice/answer-remote-calls.ts'
import { type LiveCalls, liveCallsHere } from './voice/live-calls.ts'
import type { LiveSessions } from './voice/live-sessions.ts'
import { reachableCalls } from './voice/reachable-calls.ts'
import { makeRemoteWatches } from './voice/remote-watches.ts'

/** Joins the live calls of all nodes: this one answers for its own, and asks for the others. */
export function makeLiveCalls(
  { clock, cluster: { bus }, database: { db } }: Deps,
  { live, nodeId }: { live: LiveSessions; nodeId: NodeId },
): { calls: LiveCalls; close(): void } {
  const here = liveCallsHere(live, clock)
  const watches = makeRemoteWatches({ bus, clock, nodeId })
  const stopAnswers = answerRemoteCalls({ bus, clock, nodeId, live, here })
  const owners = {
    ownerOf: (tenantId: TenantId, streamSid: string) => findOwner(db, tenantId, streamSid),
    ownersOf: (tenantId: TenantId) => listOwners(db, tenantId),
  }
  return {
    calls: reachableCalls({ bus, nodeId, live, here, owners, watches }),
    close() {
      stopAnswers()
      watches.close()
    },
  }
}
