import type { Tampering } from './wire.ts'
import type { World } from './world.ts'

/** How a wire is cut: in order, at once, for good, or so that nobody is told. */
export const CUTS = [
  ...(['model-fin', 'model-rst', 'model-fatal', 'model-hole'] as const),
  ...(['carrier-fin', 'carrier-rst', 'carrier-hole', 'carrier-blink', 'carrier-back'] as const),
  ...(['both', 'swap'] as const),
] as const

/** A gap that nobody notices, and one that a caller is told a word about. */
const BLINK_MS = 300
export const BACK_MS = 3_000

export type Cut = (typeof CUTS)[number]

/** Cuts the wire as the event `index` arrives; `swap` lets it arrive after the next one. */
export function cutAt(index: number, cut: Cut, world: World): Tampering {
  if (cut === 'swap') return { index, swap: true }
  return {
    index,
    tamper(arrive, side) {
      world.wire.note(`✂ ${cut}`)
      if (cut.endsWith('fin') || (cut !== 'both' && !cut.startsWith(side))) arrive()
      apply(cut, world)
    },
  }
}

function apply(cut: Exclude<Cut, 'swap'>, world: World): void {
  switch (cut) {
    case 'model-fin':
      return world.model.current?.drop('1000')
    case 'model-rst':
      return world.model.current?.drop('1006')
    case 'model-fatal':
      return world.model.current?.drop('insufficient_quota', 'fatal')
    case 'model-hole':
      return world.model.current?.fallIntoHole()
    case 'carrier-fin':
      return world.endStream()
    case 'carrier-rst':
      return world.loseStream()
    case 'carrier-blink':
      return world.changeStream(BLINK_MS)
    case 'carrier-back':
      return world.changeStream(BACK_MS)
    case 'carrier-hole':
      return world.loseLine()
    case 'both':
      world.model.current?.drop('1006')
      return world.loseStream()
  }
}
