import { type CallerScript, reply } from '../../../simulator/src/carrier/caller-script.ts'
import type { Script } from '../../../simulator/src/model/script.ts'

/** What callers order, one thing a turn: no caller says anything twice, so a turn that is stored twice is seen. */
const GOODS = [
  ...['apples', 'bananas', 'cherries', 'dates', 'figs', 'grapes', 'lemons', 'melons', 'olives', 'peaches', 'plums'],
  ...['carrots', 'onions', 'peppers', 'potatoes', 'radishes', 'tomatoes', 'beans', 'walnuts', 'almonds', 'butter'],
  ...['cheese', 'sugar', 'coffee', 'honey', 'pasta', 'bread', 'salmon', 'chicken', 'vinegar'],
]
const PATIENCE_MS = 120_000

/** Somebody who orders so many things, one after the other, and then hangs up. `skipped`: how many of the first are left out. */
export function orderer(orders: number, skipped = 0): CallerScript {
  const steps = GOODS.slice(skipped, skipped + orders).map((good) => reply(`Please put some fresh ${good} on my list.`))
  return { steps, patienceMs: PATIENCE_MS, hangsUpAtEnd: true }
}

/** More than a run lasts. */
export const ORDERS_MAX = GOODS.length

/** What the agent has a tool for. */
const NOTED = 'bananas'
const TOOL = { name: 'record_outcome', arguments: { tags: [NOTED] } }

/** An agent that answers each order with words of its own; it needs to know nothing of what was said before. */
export const BRAIN: Script = {
  rules: [
    { when: { after_tool: 'any' }, say: `Your ${NOTED} are noted. What else can I do?` },
    { when: { says: NOTED }, call: TOOL },
    ...GOODS.map((good) => ({ when: { says: good }, say: `Your ${good} are on the list now. What else can I do?` })),
  ],
  otherwise: ['Please go on with your list.'],
}
