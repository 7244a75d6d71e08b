import type { Deps } from './deps.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { findOwner, listOwners } from './records/call-owner-store.ts'
import { answerRemoteCalls } from './voice/answer-remote-calls.ts'
import { answerRemoteLines } from './voice/lines/answer-remote-lines.ts'
import type { OpenLine } from './voice/lines/line.ts'
import type { NoteTakeover } from './voice/lines/line-socket.ts'
import { makeLinesHere } from './voice/lines/lines-here.ts'
import { reachableLines } from './voice/lines/reachable-lines.ts'
import { makeRemoteLines } from './voice/lines/remote-lines.ts'
import { type LiveCalls, liveCallsHere } from './voice/live-calls.ts'
import type { LiveSessions } from './voice/live-sessions.ts'
import { reachableCalls } from './voice/reachable-calls.ts'
import { makeRemoteWatches } from './voice/remote-watches.ts'

/** Joins the live calls of all nodes: this one answers for its own, and asks for the others. */
export function makeLiveCalls(
  { clock, cluster: { bus }, database: { db } }: Deps,
  { live, nodeId }: { live: LiveSessions; nodeId: NodeId },
  note: NoteTakeover,
): { calls: LiveCalls; openLine: OpenLine; close(): void } {
  const here = liveCallsHere(live, clock)
  const watches = makeRemoteWatches({ bus, clock, nodeId })
  const linesHere = makeLinesHere(live)
  const remote = makeRemoteLines({ bus, clock, nodeId })
  const stopLines = answerRemoteLines({ bus, clock, nodeId, here: linesHere, note })
  const stopAnswers = answerRemoteCalls({ bus, clock, nodeId, live, here })
  const owners = {
    ownerOf: (tenantId: TenantId, streamSid: string) => findOwner(db, tenantId, streamSid),
    ownersOf: (tenantId: TenantId) => listOwners(db, tenantId),
  }
  return {
    calls: reachableCalls({ bus, nodeId, live, here, owners, watches }),
    openLine: reachableLines({ nodeId, live, here: linesHere, owners, remote }),
    close() {
      stopAnswers()
      stopLines()
      remote.close()
      watches.close()
    },
  }
}
