import { Gauge, type Registry } from 'prom-client'
import { PHASES, type Phase } from './probes.ts'

/** `takesBeats`: whether the database has taken what this node wrote within the last two seconds; null where the node writes nothing. */
type Asked = { phase: () => Phase; takesBeats: (() => boolean) | null }

/** What this node can do now, for whoever watches it. What is `Asked` is asked when the metrics are read, and asks nobody else. */
export function makeNodeMetrics(registry: Registry, { phase, takesBeats }: Asked): void {
  const registers = [registry]
  new Gauge({
    name: 'node_phase',
    help: '1 for the phase that this node is in: it takes calls while it is serving.',
    labelNames: ['phase'],
    registers,
    collect() {
      const now = phase()
      for (const each of PHASES) this.set({ phase: each }, each === now ? 1 : 0)
    },
  })
  if (takesBeats === null) return
  new Gauge({
    name: 'database_up',
    help: '1 while the database takes what this node writes each second, 0 while it is away, silent, full or to be read only.',
    registers,
    collect() {
      this.set(takesBeats() ? 1 : 0)
    },
  })
}
