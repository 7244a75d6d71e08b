import type { NodeId } from '../../kernel/ids.ts'
import { noSuchSession } from '../live-calls.ts'
import type { LiveSessions } from '../live-sessions.ts'
import type { CallOwners } from '../reachable-calls.ts'
import type { OpenLine } from './line.ts'
import type { RemoteLines } from './remote-lines.ts'

type Deps = {
  nodeId: NodeId
  live: Pick<LiveSessions, 'find'>
  here: OpenLine
  owners: Pick<CallOwners, 'ownerOf'>
  remote: Pick<RemoteLines, 'open'>
}

/** Lines into the calls of all nodes: a person's socket may be at any of them. */
export function reachableLines({ nodeId, live, here, owners, remote }: Deps): OpenLine {
  return async (wanted, listener) => {
    const { tenantId, streamSid } = wanted
    if (live.find(tenantId, streamSid)) return here(wanted, listener)
    const owner = await owners.ownerOf(tenantId, streamSid)
    if (owner === null || owner === nodeId) throw noSuchSession()
    return remote.open(owner, wanted, listener)
  }
}
