import type { Cancel, Clock } from '../../kernel/clock.ts'
import type { NodeId, TenantId } from '../../kernel/ids.ts'
import type { Bus } from '../bus/port.ts'
import { type Log, watchLines } from '../log.ts'
import { isWanted, type LineFilter, type LogLine, readLine } from './log-line.ts'
import { RecentLines } from './recent-lines.ts'
import { makeRemoteLines } from './remote-lines.ts'

/** Is told what is logged, on this node and on others. */
export type LineFollower = {
  line(line: LogLine): void
  /** So many lines were lost on their way from another node. */
  lost(count: number): void
}

/** The log of all nodes while it is written, and what was written lately. */
export type LiveLog = {
  /** The last `limit` lines that are wanted, newest first. A node that does not answer within a second is left out. */
  recent(filter: LineFilter, limit: number): Promise<LogLine[]>
  /** Tells of each wanted line from now on, of those of other nodes from soon on, until cancelled. */
  follow(filter: LineFilter, follower: LineFollower): Cancel
  close(): void
}

type Deps = {
  log: Log
  clock: Clock
  bus: Bus
  nodeId: NodeId
  /** The nodes that are alive, this one among them. @throws AppError `unavailable`. */
  nodes(): Promise<NodeId[]>
}

type Following = { filter: LineFilter; follower: LineFollower }

/** Keeps the last lines of this node's log in memory, and joins it with the logs of the others. */
export function makeLiveLog({ log, clock, bus, nodeId, nodes }: Deps): LiveLog {
  const recent = new RecentLines()
  const followings = new Set<Following>()
  const remote = makeRemoteLines({
    ...{ bus, clock, nodeId, nodes },
    find: (filter, limit) => recent.find(filter, limit),
    tell,
    lost(count) {
      for (const { follower } of followings) follower.lost(count)
    },
    /** Null when somebody wants those of all. */
    followedTenants() {
      const tenants = [...followings].map(({ filter }) => filter.tenantId)
      return tenants.includes(null) ? null : (tenants as TenantId[])
    },
  })

  function tell(text: string): void {
    if (followings.size === 0) return
    const line = readLine(text)
    for (const { filter, follower } of followings) if (isWanted(line, text, filter)) follower.line(line)
  }

  const stop = watchLines(log, (text) => {
    recent.add(text)
    tell(text)
    remote.written(text)
  })

  return {
    async recent(filter, limit) {
      const elsewhere = await remote.recent(filter, limit)
      const lines = [...recent.find(filter, limit), ...elsewhere.flat()]
      // What was logged at the same instant stays in its order.
      return lines.sort((a, b) => b.time.localeCompare(a.time)).slice(0, limit)
    },
    follow(filter, follower) {
      const following = { filter, follower }
      followings.add(following)
      remote.wantsChanged()
      return () => {
        if (followings.delete(following)) remote.wantsChanged()
      }
    },
    close() {
      stop()
      remote.close()
      followings.clear()
    },
  }
}
