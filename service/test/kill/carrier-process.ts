// The telephone carrier and the model, in a process of their own: what is killed are the nodes, and what is measured here
// does not wait for them. Started with its `CarrierStart` as the argument; it ends with the process that started it.
import { startSimulator } from '../../../simulator/src/simulator.ts'
import { CallWatch } from './call-watch.ts'
import type { CarrierAnswer, CarrierAsk, CarrierStart, Ringing } from './carrier-messages.ts'
import { monotonicMs } from './monotonic.ts'
import { BRAIN, ORDERS_MAX, orderer } from './talk.ts'

const LOOK_MS = 10
const HOST = '127.0.0.1'

const { seed, faults, ...account }: CarrierStart = JSON.parse(process.argv[2] ?? '{}')
const simulator = await startSimulator({
  carrier: { host: HOST, port: 0, ...account, seed, faults, anybody: orderer(ORDERS_MAX), callsPerSecond: 50 },
  model: { host: HOST, port: 0, brain: BRAIN },
})
const { carrier } = simulator
const watches: CallWatch[] = []
const calls = new Set<(typeof carrier.calls)[number]>()
carrier.watch((call) => {
  calls.add(call)
  watches.push(new CallWatch(call, monotonicMs))
})
const looking = setInterval(() => {
  const nowMs = monotonicMs()
  for (const watch of watches) watch.look(nowMs)
}, LOOK_MS)

let ringing: NodeJS.Timeout | undefined
let rung = 0

/**
 * One ever so often, so that their voices do not all want the machine at once. A call that is refused is rung again: a node
 * that has just started on a busy machine takes none for a while.
 */
function ring({ calls: wanted, everyMs, orders, skipped, afterLoss, ...ring }: Ringing): void {
  if (afterLoss) carrier.faults.stream.afterLoss = afterLoss
  ringing = setInterval(() => {
    const live = [...calls].filter(({ status }) => status === 'ringing' || status === 'in-progress')
    if (live.length >= wanted) return
    rung = (rung + 1) % 10_000
    carrier.ring({ ...ring, from: `+1202555${String(rung).padStart(4, '0')}`, caller: orderer(orders, skipped) })
  }, everyMs)
}

async function answer(ask: CarrierAsk): Promise<CarrierAnswer> {
  if (ask.do === 'ring') ring(ask)
  if (ask.do === 'stop-ringing' || ask.do === 'hang-up') clearInterval(ringing)
  if (ask.do !== 'hang-up') return watches.map((watch) => watch.seen())
  for (const call of calls) call.hangUp()
  await Promise.all([...calls].map(({ settled }) => settled))
  calls.clear()
  return watches.splice(0).map((watch) => watch.seen())
}

process.on('message', ({ id, ask }: { id: number; ask: CarrierAsk }) => {
  void answer(ask).then((result) => process.send?.({ id, result }))
})
process.on('disconnect', () => {
  clearInterval(looking)
  clearInterval(ringing)
  void simulator.close().finally(() => process.exit(0))
})
process.send?.({ id: 0, result: { carrierUrl: carrier.baseUrl, modelUrl: simulator.model.url } })
