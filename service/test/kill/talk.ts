import { type CallerScript, reply } from '../../../simulator/src/carrier/caller-script.ts'
import type { Script } from '../../../simulator/src/model/script.ts'

/** What callers order, one thing a turn: no caller says anything twice, so a turn that is stored twice is seen. */
const GOODS = [
  ...['apples', 'bananas', 'cherries', 'dates', 'figs', 'grapes', 'lemons', 'melons', 'olives', 'peaches', 'plums'],
  ...['carrots', 'onions', 'peppers', 'potatoes', 'radishes', 'tomatoes', 'beans', 'walnuts', 'almonds', 'butter'],
  ...['cheese', 'sugar', 'coffee', 'honey', 'pasta', 'bread', 'salmon', 'chicken', 'vinegar'],
]
const PATIENCE_MS = 120_000

/** Somebody who orders one thing after the other for some minutes, and then stays. */
export const CALLER: CallerScript = {
  steps: GOODS.map((good) => reply(`Please put some fresh ${good} on my list.`)),
  patienceMs: PATIENCE_MS,
}

/** An agent that answers each order with words of its own; it needs to know nothing of what was said before. */
export const BRAIN: Script = {
  rules: GOODS.map((good) => ({ when: { says: good }, say: `Your ${good} are on the list now. What else can I do?` })),
  otherwise: ['Please go on with your list.'],
}
