import { Counter, Gauge, type Registry } from 'prom-client'

type Asked = { isUp: () => boolean; nodes: () => number }

/** The numbers of this node's way to the others. What is `Asked` is asked when the metrics are read. */
export function makeClusterMetrics(registry: Registry, { isUp, nodes }: Asked): { onDropped: () => void } {
  const registers = [registry]
  new Gauge({
    name: 'redis_up',
    help: '1 while Redis can be reached, 0 while this node works on alone.',
    registers,
    collect() {
      this.set(isUp() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'cluster_nodes',
    help: 'Nodes that share the database, as this one counted them last: so many share a rate limit while Redis is away.',
    registers,
    collect() {
      this.set(nodes())
    },
  })
  const dropped = new Counter({
    name: 'bus_messages_dropped_total',
    help: 'Messages to other nodes that were dropped because Redis was away.',
    registers,
  })
  return { onDropped: () => dropped.inc() }
}
