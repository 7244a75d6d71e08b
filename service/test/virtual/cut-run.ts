import { type Cut, cutAt } from './cut.ts'
import { GOLDEN_CALL, GOLDEN_LIMIT_MS } from './golden-call.ts'
import { World } from './world.ts'

/** A golden call that was cut, after it. */
export type CutRun = {
  index: number
  cut: Cut
  world: World
  cutAtMs: number
  /** Whether the model owed the caller something when it was cut off: an answer, or the rest of one. */
  wasOwed: boolean
}

/** One way between us and the carrier, of the runs in turn. */
const CARRIER_DELAYS_MS = [10, 40, 75]

/** Of so many carriers one leaves without a word when it is told to do something else. */
const SILENT_LEAVERS = 3

/** Runs the golden call and cuts it as its event `index` arrives. */
export async function runCut(index: number, cut: Cut): Promise<CutRun> {
  const facts = { cutAtMs: Number.POSITIVE_INFINITY, wasOwed: false }
  const world = new World({
    ...GOLDEN_CALL,
    carrierDelayMs: CARRIER_DELAYS_MS[index % CARRIER_DELAYS_MS.length] ?? 40,
    leavesSilently: Math.floor(index / CARRIER_DELAYS_MS.length) % SILENT_LEAVERS === 0,
    tamper: (of) => {
      const tampering = cutAt(index, cut, of)
      if ('swap' in tampering) return tampering
      return {
        index,
        tamper(arrive, side) {
          facts.cutAtMs = of.clock.monotonicMs()
          facts.wasOwed = owes(of)
          tampering.tamper(arrive, side)
        },
      }
    },
  })
  world.begin()
  await world.run(GOLDEN_LIMIT_MS)
  return { index, cut, world, ...facts }
}

function owes({ model, session }: World): boolean {
  const { answers, owedSinceMs } = session.state
  return (model.current?.isAnswering ?? false) || answers.asked !== null || owedSinceMs !== null
}

/** How many events the golden call has when nobody cuts it, with the carrier nearest. */
export async function goldenEvents(): Promise<number> {
  const world = new World({ ...GOLDEN_CALL, carrierDelayMs: Math.max(...CARRIER_DELAYS_MS) })
  world.begin()
  await world.run(GOLDEN_LIMIT_MS)
  return world.wire.count
}
