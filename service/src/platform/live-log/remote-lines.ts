import type { Clock } from '../../kernel/clock.ts'
import type { NodeId, TenantId } from '../../kernel/ids.ts'
import type { Bus } from '../bus/port.ts'
import { type LineFilter, type LogLine, readLine } from './log-line.ts'

type Deps = {
  bus: Bus
  clock: Clock
  nodeId: NodeId
  nodes(): Promise<NodeId[]>
  /** What this node has of it. */
  find(filter: LineFilter, limit: number): LogLine[]
  /** Takes a line of another node. */
  tell(text: string): void
  lost(count: number): void
  /** Whose lines are wanted on this node; null for everybody's, none for nobody's. */
  followedTenants(): TenantId[] | null
}

/** The logs of other nodes. */
export type RemoteLines = {
  recent(filter: LineFilter, limit: number): Promise<LogLine[][]>
  /** This node has written a line: whoever wants it elsewhere gets it soon. */
  written(text: string): void
  /** Somebody follows on this node, or does not any more. */
  wantsChanged(): void
  close(): void
}

/** What a node asks the others for; they forget it when it is not said again. */
type Wants = { node: NodeId; tenants: TenantId[] | null }
type Wanting = { tenants: Set<TenantId> | null; untilMs: number; waiting: string[]; lost: number }
type Sent = { lines: string[]; lost: number }

const WANTS_TOPIC = 'log/wants'
const SAY_AGAIN_MS = 3_000
const FORGET_AFTER_MS = 10_000
const ANSWER_WITHIN_MS = 1_000
/** Lines go over the bus together, so many at most at a time: what is more is lost, and told. */
const SEND_INTERVAL_MS = 100
const MAX_WAITING = 500

const linesTopic = (node: NodeId) => `log/lines/${node}`
const recentTopic = (node: NodeId) => `log/recent/${node}`

/** Joins the logs of the nodes over the bus: a line leaves its node only while somebody follows it on another one. */
export function makeRemoteLines(deps: Deps): RemoteLines {
  return deps.bus.reachesOthers ? joined(deps) : ALONE
}

const ALONE: RemoteLines = {
  recent: async () => [],
  written() {},
  wantsChanged() {},
  close() {},
}

function joined({ bus, clock, nodeId, nodes, find, tell, lost, followedTenants }: Deps): RemoteLines {
  const wanting = new Map<NodeId, Wanting>()
  let hasWanted = false

  function sayWants(): void {
    const tenants = followedTenants()
    const wantsNone = tenants?.length === 0
    if (wantsNone && !hasWanted) return
    hasWanted = !wantsNone
    bus.publish(WANTS_TOPIC, { node: nodeId, tenants } satisfies Wants)
  }

  function note({ node, tenants }: Wants): void {
    if (node === nodeId) return
    if (tenants?.length === 0) return void wanting.delete(node)
    const { waiting, lost: gone } = wanting.get(node) ?? { waiting: [], lost: 0 }
    const untilMs = clock.monotonicMs() + FORGET_AFTER_MS
    wanting.set(node, { tenants: tenants && new Set(tenants), untilMs, waiting, lost: gone })
  }

  function send(): void {
    for (const [node, each] of wanting) {
      if (each.untilMs < clock.monotonicMs()) wanting.delete(node)
      else if (each.waiting.length > 0) {
        bus.publish(linesTopic(node), { lines: each.waiting, lost: each.lost } satisfies Sent)
        Object.assign(each, { waiting: [], lost: 0 })
      }
    }
  }

  const stops = [
    bus.subscribe(WANTS_TOPIC, (message) => note(message as Wants)),
    bus.subscribe(linesTopic(nodeId), (message) => {
      const { lines, lost: gone } = message as Sent
      for (const line of lines) tell(line)
      if (gone > 0) lost(gone)
    }),
    bus.answer(recentTopic(nodeId), (question) => {
      const { filter, limit } = question as { filter: LineFilter; limit: number }
      return find(filter, limit)
    }),
    clock.every(SAY_AGAIN_MS, sayWants),
    clock.every(SEND_INTERVAL_MS, send),
  ]

  return {
    async recent(filter, limit) {
      const others = (await nodes().catch(() => [])).filter((node) => node !== nodeId)
      const ask = (node: NodeId) => bus.ask(recentTopic(node), { filter, limit }, ANSWER_WITHIN_MS)
      return Promise.all(others.map((node) => (ask(node) as Promise<LogLine[]>).catch(() => [])))
    },
    written(text) {
      if (wanting.size === 0) return
      const { tenant_id } = readLine(text)
      for (const each of wanting.values()) {
        if (each.tenants !== null && (tenant_id === null || !each.tenants.has(tenant_id))) continue
        if (each.waiting.length < MAX_WAITING) each.waiting.push(text)
        else each.lost += 1
      }
    },
    wantsChanged: sayWants,
    close() {
      for (const stop of stops) stop()
    },
  }
}
