import type { SeededRandom } from '../corpus/random.ts'
import type { Json } from './world.ts'

/** What a field of a body may hold, what it must not, whether it has to be there, and whether it always is though it need not. */
export type Field = { good: readonly unknown[]; bad?: readonly unknown[]; isNeeded?: boolean; isGiven?: boolean }

/** A body, and whether it should be taken. */
export type Drawn = { body: Json; isSound: boolean }

/** Draws bodies: most of them sound, some with one thing that is wrong. */
export class Draw {
  readonly random: SeededRandom

  constructor(random: SeededRandom) {
    this.random = random
  }

  body(fields: Record<string, Field>, { faulty = 0.12 }: { faulty?: number } = {}): Drawn {
    const { random } = this
    const body: Json = {}
    for (const [name, { good, isNeeded = false, isGiven = isNeeded }] of Object.entries(fields)) {
      if (isGiven || random.chance(0.5)) body[name] = random.pick(good)
    }
    if (!random.chance(faulty)) return { body, isSound: true }
    const spoilers = Object.entries(fields).flatMap(([name, { bad = [], isNeeded = false }]): Json[] => [
      ...bad.map((value) => ({ [name]: value })),
      ...(isNeeded ? [{ [name]: undefined }] : []),
    ])
    return { body: { ...body, ...random.pick([...spoilers, { colour: 'red' }]) }, isSound: false }
  }

  /** One of the list; of an empty one, or now and then, something that is not in it. */
  known<T>(list: readonly T[], others: readonly T[], strange = 0.08): T {
    return list.length === 0 || this.random.chance(strange) ? this.random.pick(others) : this.random.pick(list)
  }
}
